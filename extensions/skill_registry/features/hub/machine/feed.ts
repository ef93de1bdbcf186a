import { randomUUID } from 'node:crypto';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { type Archive, download, originRefused, originUnavailable } from '../../../../../lib/fetch/index.ts';
import { makePrivateFolder } from '../../../../../lib/files/index.ts';
import { keepSkill, tidy } from '../../pages/fetch-copy.ts';
import { fetchArtifact } from '../../pages/open-page.ts';
import { type IndexEntry, MAX_INDEX, MAX_PAGE_SKILLS } from '../../pages/page-index.ts';
import {
  addChanges,
  changed,
  confirmCopy,
  copyKey,
  type FetchCopy,
  type FetchSkill,
  fetchedSkills,
  forgetChanges,
  isOfSkill,
  keepFetched,
  writeCopy,
} from '../../pages/well-known-copy.ts';
import { type HubEntry, type HubFeed, hubFeed } from '../wire.ts';
import { type Hub, readAnswer } from './hub-address.ts';

/** Keeps the copy of a space up to date: entries by the feed, a body by its digest when it is read. */
export function feedOf(
  hub: Hub,
  keeps: (id: string) => boolean,
): { readonly fetchCopy: FetchCopy; readonly fetchSkill: FetchSkill } {
  const fetchSkill: FetchSkill = async ({ folder, entry, signal: ended }) =>
    hub.use(READ_MS, ended, async ({ base, headers, signal }) => {
      const url = `${base}/artifacts/${entry.digest}`;
      const artifact = await fetchArtifact({ ...entry, url }, { from: url, headers, signal });
      return keepSkill(folder, entry, withoutExtensions(artifact));
    });
  return {
    fetchSkill,
    async fetchCopy({ url, folder, before, damaged, signal, waits = false }) {
      makePrivateFolder(folder);
      const at = before && positionOf(before.copy.index);
      const news = await readNews(hub, at, waits && damaged.size === 0 ? WAIT_S : 0, signal);
      const reading = news.isWhole ? randomUUID() : at?.reading;
      const index = JSON.stringify({ epoch: news.epoch, seq: news.seq, reading });
      const known = news.isWhole ? undefined : before;
      const changes = [...news.changes].map(
        ([id, entry]) => [id, entry && keeps(id) ? indexEntry(entry) : null] as const,
      );
      const entries = changed(known?.copy.entries ?? [], changes);
      if (entries.length > MAX_PAGE_SKILLS) throw originRefused(url, `it has more than ${MAX_PAGE_SKILLS} skills.`);
      for (const entry of entries)
        if (damaged.has(entry.digest))
          await fetchSkill({ url, folder, entry, signal }).catch((error) => {
            // It may be replaced since.
            if (!isOfSkill(error)) throw error;
          });
      if (known && (index === known.copy.index || addChanges(folder, known, index, changes))) confirmCopy(folder);
      else {
        writeCopy(folder, { index, url, skills: [], entries, faults: [] });
        if (before) forgetChanges(folder, before);
        forgetOthers(folder, new Set(entries.map(copyKey)));
      }
      return true;
    },
  };
}

// --- internal ---

/** Of a poll, in seconds; and how much longer an answer may take. */
const WAIT_S = 25;
const SLOW_MS = 10_000;
/** For one skill that somebody waits for. */
const READ_MS = 15_000;
/** Of one reading from the beginning: 500 changes each. */
const MOST_ANSWERS = (2 * MAX_PAGE_SKILLS) / 500;
const MOST_READINGS = 3;
/** So many skills has an answer that is followed by more, on average. */
const LEAST_CHANGES = 100;
const FEW_ANSWERS = 10;

interface Position {
  readonly epoch: string;
  readonly seq: number;
  /** The last one from the beginning, at random: numbers of an epoch may come again. */
  readonly reading?: string | undefined;
}

interface News extends Position {
  /** They are all that there is. */
  readonly isWhole: boolean;
  readonly changes: ReadonlyMap<string, HubEntry | null>;
}

function positionOf(index: string): Position | undefined {
  const read = Object(withFallback((): unknown => JSON.parse(index), undefined)) as Position;
  return typeof read.epoch === 'string' && Number.isSafeInteger(read.seq) ? read : undefined;
}

/** Another epoch, or a head below what is known: then everything is read anew. */
async function readNews(hub: Hub, at: Position | undefined, wait: number, signal: AbortSignal): Promise<News> {
  let answer = await ask(hub, at?.seq ?? 0, at?.epoch, wait, signal);
  let isWhole = at === undefined;
  for (let reading = 1; reading <= MOST_READINGS; reading++) {
    if (at && !isWhole && (answer.epoch !== at.epoch || answer.head < at.seq)) {
      isWhole = true;
      answer = await ask(hub, 0, undefined, 0, signal);
    }
    const news = await readOn(hub, answer, isWhole ? 0 : (at?.seq ?? 0), signal);
    if (news) return { ...news, isWhole };
    isWhole = true;
    answer = await ask(hub, 0, undefined, 0, signal);
  }
  throw originUnavailable(hub.addresses.join(', '), 'it begins anew again and again');
}

/** All that follows the first answer. Undefined when the hub begins anew meanwhile. */
async function readOn(
  hub: Hub,
  first: HubFeed,
  from: number,
  signal: AbortSignal,
): Promise<Omit<News, 'isWhole'> | undefined> {
  const refuse = (why: string): never => {
    throw originRefused(hub.addresses.join(', '), why);
  };
  const { epoch } = first;
  const changes = new Map<string, HubEntry | null>();
  let [answer, seq] = [first, from];
  for (let count = 1; ; count++) {
    for (const change of answer.changes) {
      if (change.seq <= seq || change.seq > answer.head) refuse('its changes are in no order.');
      if (change.entry && change.entry.id !== change.id) refuse('a change names another skill than its entry.');
      seq = change.seq;
      changes.set(change.id, change.entry);
    }
    if (!answer.more) return { epoch, seq: answer.head, changes };
    const isEndless = count > FEW_ANSWERS && changes.size < count * LEAST_CHANGES;
    if (answer.changes.length === 0 || isEndless || count === MOST_ANSWERS) refuse('its changes have no end.');
    answer = await ask(hub, seq, epoch, 0, signal);
    if (answer.epoch !== epoch || answer.head < seq) return undefined;
  }
}

function ask(hub: Hub, after: number, epoch: string | undefined, wait: number, ended: AbortSignal): Promise<HubFeed> {
  return hub.use(wait * 1000 + SLOW_MS, ended, async ({ base, headers, signal }) => {
    const known = epoch === undefined ? '' : `&epoch=${encodeURIComponent(epoch)}`;
    const url = `${base}/changes?after=${after}&wait=${wait}${known}`;
    return readAnswer(await download(url, MAX_INDEX, { headers, signal }), `${base}/changes`, hubFeed);
  });
}

/** Its address is that of the hub that is asked. */
function indexEntry({ id: name, description, tags, allowed, type, digest }: HubEntry): IndexEntry {
  return { name, description, tags, allowed, type, digest, url: digest };
}

/** Code never comes from a hub. */
function withoutExtensions({ entries, read }: Archive): Archive {
  const isCode = (path: string): boolean => path.split('/')[0]?.toLowerCase() === 'extensions';
  return { entries: entries.filter(({ path }) => !isCode(path)), read };
}

/** Bodies of what is not listed any more. */
function forgetOthers(folder: string, listed: ReadonlySet<string>): void {
  const fetched = fetchedSkills(folder);
  const kept = new Map(fetched.flatMap((skill) => (listed.has(copyKey(skill)) ? [[copyKey(skill), skill]] : [])));
  if (kept.size < fetched.length) keepFetched(folder, [...kept.values()]);
  tidy(folder, [...kept.values()], fetched);
}
