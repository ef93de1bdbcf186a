import { basename } from 'node:path';
import { CodedError, type Problem } from 'skill-registry/kernel';
import { withFallback } from '../../../../lib/errors/index.ts';
import { downloadIfChanged, type OriginHeaders } from '../../../../lib/fetch/index.ts';
import { listed, plural } from '../../../../lib/text/index.ts';
import type { Snapshot } from '../../core/catalog/snapshot.ts';
import type { Core } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import { type Skill, slugOf } from '../../core/skill/skill.ts';
import { RULED_OUT } from '../../core/skill/why-held.ts';
import type { SkillSource } from '../../core/sources/source.ts';
import type { AskedPage, Holder } from '../guard/door.ts';
import { lockScopes } from '../guard/installed.ts';
import { assertNotRevoked } from '../guard/revoked.ts';
import { headersWithSecrets } from '../install/secret-headers.ts';
import { pageAddress } from '../pages/door.ts';
import { KeptPolicy, MAX_POLICY } from './kept-policy.ts';
import { MANAGED_FILE, readManaged } from './managed-file.ts';
import { createOrigins } from './origins.ts';
import { HERE, type Policy, type PolicyConfig, type SkillFacts } from './rules.ts';

/** How long a scan waits: with a policy that counts, and without. */
const WAIT_MS = 1_000;
const FIRST_MS = 10_000;

interface Governing {
  /** Of its page; undefined: no page is named. */
  readonly kept: KeptPolicy | undefined;
  readonly name: string;
  /** Undefined: nobody has named it, so it is about the skills of its page. */
  readonly hours: number | undefined;
}

type Ruling = readonly [code: 'POLICY_DENIED' | 'POLICY_MISSING' | 'POLICY_FILE_UNUSABLE', why: string];

export interface Policies extends Required<Holder>, Required<Pick<Opened, 'beforeScan'>> {
  /** Asks the pages, and has the catalog read again when something has changed. */
  look(): Promise<void>;
  problems(): readonly Problem[];
}

/** Every policy narrows: what one of them does not let in is held. @param ofFile - That the config names. */
export function createPolicies(core: Core, ofFile: PolicyConfig): Policies {
  const { catalog, closing, config, hooks, options, root } = core;
  const pages = new Map<string, KeptPolicy>();
  /** Of which skills come. */
  const asked = new Map<string, AskedPage>();
  const origins = createOrigins();
  let managed = readManaged();
  let locked: Awaited<ReturnType<typeof lockedSources>> = () => [];
  /** `stateNow` at the last scan; at first that of no policy. */
  let scanned = '[null,[]]';
  let isScanning = false;
  /** A closed registry still says its problems. */
  const sources = () => (closing.signal.aborted ? [] : catalog.sources());
  const refresh = (): void => {
    if (!isScanning && !closing.signal.aborted) catalog.refresh().catch(() => undefined);
  };
  const headersOf = (url: string): OriginHeaders | undefined => {
    const ofMachine = typeof managed === 'object' && pageAddress(managed.from) === url ? managed.headers : undefined;
    // What somebody has revoked is asked for nothing; the machine decides for itself.
    if (typeof managed !== 'object' || pageAddress(managed.from) !== url) assertNotRevoked(url);
    const source = config.sources.find((one) => one.headers && pageAddress(one.wellKnown ?? '') === url);
    const origin = asked.get(url);
    const headers = ofMachine ?? source?.headers ?? origin?.headers;
    const isOfProgram = source !== undefined && !options.asksForSecrets;
    const allows = isOfProgram ? 'all' : ofMachine || (!source && origin?.isNamed) ? 'named' : 'decided';
    return headers && headersWithSecrets({ url, headers, getSecret: hooks.getSecret, allows });
  };
  const keptOf = (url: string, ask?: SkillSource['policy']): KeptPolicy => {
    const ofPage: Required<SkillSource>['policy'] = (etag, signal) =>
      downloadIfChanged(`${url}/${POLICY_PATH}`, MAX_POLICY, { signal, etag, headers: headersOf(url) });
    const kept = pages.get(url) ?? new KeptPolicy(url, ask ?? ofPage, closing.signal, refresh);
    pages.set(url, kept);
    return kept;
  };
  const ofName = ({ from, max_age_hours: hours }: PolicyConfig, address: string | undefined): Governing => {
    const url = pageAddress(address ?? from);
    return { kept: url === undefined ? undefined : keptOf(url), name: from, hours };
  };
  const named = (): readonly Governing[] => {
    const { from, max_age_hours: hours } = ofFile;
    const giving = sources().find(({ id, key, location, policy }) => policy && [id, key, location].includes(from));
    const ofSource = config.sources.find(({ id }) => id === from)?.wellKnown;
    const ofNamed = giving ? { ...own(giving), name: from, hours } : ofName(ofFile, ofSource);
    const ofConfig = from === '' ? [] : [ofNamed];
    // An id is a word of the config, so the machine names an address.
    return typeof managed === 'object' ? [ofName(managed, undefined), ...ofConfig] : ofConfig;
  };
  const own = ({ location: url, policy }: Pick<SkillSource, 'location' | 'policy'>): Governing => {
    return { kept: keptOf(url, policy), name: url, hours: undefined };
  };
  /** Whose policy nobody has named, but those that may not be contacted. */
  const ofPages = (): readonly Governing[] => sources().flatMap((source) => (mayGovern(source) ? own(source) : []));
  const all = (): readonly Governing[] => [...named(), ...ofPages()];
  const stateNow = (): string =>
    JSON.stringify([managed ?? null, all().map(({ kept, hours }) => [kept?.policy?.version, kept?.missing(hours)])]);

  const renew = async (waitMs: number, firstMs: number): Promise<void> => {
    managed = readManaged();
    origins.renew();
    const waits = all().map(({ kept, hours }) =>
      kept?.renew(hours !== undefined && kept.missing(hours) !== undefined ? firstMs : waitMs),
    );
    await Promise.all(waits);
  };
  const rulingOn = (facts: SkillFacts, page: Parameters<typeof own>[0] | undefined): Ruling | undefined => {
    if (typeof managed === 'string') return ['POLICY_FILE_UNUSABLE', managed];
    for (const one of [...named(), ...(page === undefined ? [] : [own(page)])]) {
      const ruling = rulingOf(one, facts);
      if (ruling) return ruling;
    }
    return undefined;
  };
  const heldBecause = (skill: Skill, digest: string | undefined): string | undefined => {
    const source = sources().find(({ id }) => id === skill.source);
    const { kind, location, key } = source ?? {};
    const isFetched = kind === PAGE || (source?.policy ?? source?.remote) !== undefined;
    const page = source && mayGovern(source) ? source : undefined;
    const from = isFetched ? [key ?? location ?? ''] : [HERE, ...origins.of(digest)];
    const ruling = rulingOn(
      { id: skill.id, sources: from, claimed: [key ?? [], locked(skill), packageOf(skill)].flat() },
      page,
    );
    return ruling && `${RULED_OUT}${ruling[1]} (${ruling[0]})`;
  };
  const hasChanged = (): boolean => scanned !== stateNow();
  return {
    heldBecause,
    hasChanged,
    renew: () => renew(0, WAIT_MS),
    came: origins.note,
    async assertMayCome(source, id, page) {
      if (page && !asked.has(page.url)) asked.set(page.url, page);
      await renew(WAIT_MS, FIRST_MS);
      const facts = { id, sources: source.startsWith('/') ? [HERE, source] : [source] };
      let ruling = rulingOn(facts, undefined);
      // A page that others rule out is not contacted.
      if (page && !ruling) {
        await keptOf(page.url).renew(FIRST_MS);
        ruling = rulingOn(facts, { location: page.url });
      }
      if (!ruling) return;
      const what = id === undefined ? `Nothing is taken from ${source}` : `"${id}" of ${source} is not taken`;
      throw new CodedError(ruling[0], `${what}: ${ruling[1]}.`, { source, ...(id !== undefined && { skill_id: id }) });
    },
    async beforeScan() {
      isScanning = true;
      await renew(WAIT_MS, FIRST_MS).finally(() => {
        isScanning = false;
      });
      if (all().some(({ kept }) => kept?.policy?.asksSources)) locked = await lockedSources(root);
      const isOther = hasChanged();
      scanned = stateNow();
      return isOther;
    },
    problems: (): readonly Problem[] => [
      ...(typeof managed === 'string' ? [unusable(managed)] : []),
      // The policy of a page can also be named by the config.
      ...new Map(all().flatMap((one) => problemsOf(one, catalog.snapshot()).map((two) => [two.message, two]))).values(),
      ...heldProblem(catalog.snapshot()),
    ],
    async look() {
      await renew(0, 0);
      if (hasChanged()) refresh();
    },
  };
}

// --- internal ---

const PAGE = 'well-known';
/** Beside the index of a page. */
const POLICY_PATH = '.well-known/agent-skills/policy.json';

function mayGovern({ kind, broughtIn, policy }: SkillSource): boolean {
  return policy !== undefined || (kind === PAGE && broughtIn === true);
}

function rulingOf({ kept, name, hours }: Governing, facts: SkillFacts): Ruling | undefined {
  const missing = kept ? kept.missing(hours) : 'no page with skills has this address, and no source this id';
  if (missing !== undefined) return ['POLICY_MISSING', `the policy of ${name} does not count: ${missing}`];
  const why = (kept?.policy as Policy | undefined)?.refuses(facts);
  return why === undefined ? undefined : ['POLICY_DENIED', `the policy of ${name} ${why}`];
}

/** A file in node_modules claims to be of that package, whatever has led there. */
function packageOf({ dir, file }: Skill): readonly string[] {
  const name = /^.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/s.exec(dir ?? file)?.[1];
  return name === undefined ? [] : [`npm:${name.replace('\\', '/')}`];
}

/** What locks say of a skill: anybody may have written that of the root. */
async function lockedSources(root: string): Promise<(skill: Pick<Skill, 'dir'>) => readonly string[]> {
  const [{ readLock }, { originOf, sourceKey }] = await Promise.all([
    import('../install/lock.ts'),
    import('../install/address.ts'),
  ]);
  const locks = lockScopes(root).map(({ folder, covers }) => {
    const skills = withFallback(() => [...readLock(folder).skills], []);
    const keyOf = (entry: (typeof skills)[number][1]) =>
      withFallback(() => sourceKey(originOf(entry, folder)), entry.source);
    return { covers, sources: new Map(skills.map(([name, entry]) => [slugOf(name), keyOf(entry)])) };
  });
  return ({ dir }) =>
    locks.flatMap(({ covers, sources }) => (dir && covers(dir) ? (sources.get(slugOf(basename(dir))) ?? []) : []));
}

function unusable(why: string): Problem {
  const message = `Every skill is held, because the policy of this machine cannot be used: ${why}. Whoever manages this machine corrects that.`;
  return { code: 'POLICY_FILE_UNUSABLE', severity: 'error', file: MANAGED_FILE, message };
}

function problemsOf({ kept, name: file, hours }: Governing, { byId }: Snapshot): readonly Problem[] {
  const missing = kept?.missing(hours);
  const problems: Problem[] = [];
  if (!kept || missing !== undefined) {
    const what = hours === undefined ? 'The skills of this page are held' : 'Every skill is held';
    const why = missing ?? 'no page with skills has this address, and no source this id';
    const message = `${what}, because the policy of ${file} does not count: ${why}. Correct the address or the page; it is asked again each minute.`;
    problems.push({ code: 'POLICY_MISSING', severity: 'error', file, message });
  }
  if (kept?.fault !== undefined && missing === undefined) {
    const message = `The last answer of the page about its policy is not taken: ${kept.fault}. Version ${kept.policy?.version} still counts.`;
    problems.push({ code: 'POLICY_REFUSED', severity: 'warning', file, message });
  }
  const lacking = (kept?.policy?.required ?? []).filter((id) => {
    const skill = byId.get(id);
    return !skill || skill.heldBecause !== undefined || skill.hiddenBecause !== undefined || skill.disabledFor;
  });
  if (lacking.length > 0) {
    const message = `The policy of ${file} requires ${plural(lacking.length, 'skill')} that agents do not have here: ${listed(lacking, 20)}. Nothing installs them: add them, or allow them.`;
    problems.push({ code: 'POLICY_REQUIRED', severity: 'warning', file, message, details: { skills: lacking } });
  }
  return problems;
}

/** One for all: a policy may hold thousands. */
function heldProblem({ byQualifiedId }: Snapshot): readonly Problem[] {
  const held = [...byQualifiedId.values()].filter(({ heldBecause }) => heldBecause?.startsWith(RULED_OUT));
  const [first] = held;
  if (!first) return [];
  const why = first.heldBecause?.slice(RULED_OUT.length);
  const ids = listed(held.map(({ qualifiedId }) => qualifiedId).sort(), 20);
  const message = `Policies hold ${plural(held.length, 'skill')}, and no agent is given them: ${ids}. The first because ${why}. Whoever keeps the policy changes that.`;
  return [{ code: 'POLICY_DENIED', severity: 'warning', file: first.file, message }];
}
