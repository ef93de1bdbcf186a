/** What a policy says, and what that means for one skill. */
import { isAbsolute } from 'node:path';
import { PACKAGE_NAME } from '../../../../lib/files/index.ts';
import { oneLine } from '../../../../lib/text/index.ts';
import type { SkillRegistryConfig } from '../../core/config/config.ts';
import {
  integerFrom,
  isRecord,
  listOf,
  numberFrom,
  objectOf,
  type Reader,
  type Readers,
  readerOf,
  refine,
  someText,
  text,
  type ValuePosition,
  wholly,
} from '../../core/config/readers.ts';
import { slugOf } from '../../core/skill/skill.ts';
import { placeOf } from '../guard/revoked.ts';

export type PolicyConfig = SkillRegistryConfig['policy'];

/** Files in folders of this machine, however they came there: as a source and as an owner. */
export const HERE = '.';

export interface SkillFacts {
  /** Undefined: only the source is known. */
  readonly id: string | undefined;
  /** Keys of sources that this registry has fetched it from; `HERE`. */
  readonly sources: readonly string[];
  /** Where others say that it is from, as a lock of the root does: that holds a skill, and lets none in. */
  readonly claimed?: readonly string[];
}

export interface Policy {
  readonly version: number;
  readonly required: readonly string[];
  /** Why a skill is held; undefined when this policy has nothing against it. */
  refuses(facts: SkillFacts): string | undefined;
  /** Whether it asks where skills come from. */
  readonly asksSources: boolean;
}

/** @returns what is wrong with it as a text. */
export function readPolicy(text: string): Policy | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'it is no JSON';
  }
  const read = readWholly(POLICY, value);
  return typeof read === 'string' ? read : policyOf(read);
}

/** Without anything that is wrong in it. @returns what is wrong as a text. */
export function readWholly<T extends object>(reader: Reader<T>, value: unknown): T | string {
  let fault = '';
  const report: ValuePosition['report'] = ({ path }, _, expected) => {
    fault ||= `${oneLine(path.join('.'), 100) || 'it'}: ${expected}`;
  };
  return wholly(reader)(value, { path: [], effect: '', report }) ?? fault;
}

export const NO_POLICY: PolicyConfig = { from: '', max_age_hours: 24 };
export const namedFields: Readers<PolicyConfig> = { from: someText, max_age_hours: numberFrom(0.01, 8760) };
const namedPolicy: Reader<PolicyConfig> = objectOf<PolicyConfig>(namedFields, NO_POLICY, ['from']);
const { schema } = objectOf<PolicyConfig>({ ...namedFields, from: text }, NO_POLICY);
/** A typing error must not switch a policy off: the address of nothing holds every skill. */
export const policyKey: Reader<PolicyConfig> = readerOf(schema, (value, at) => {
  const isNone = isRecord(value) && (value.from ?? '') === '' && Object.keys(value).every((key) => key in NO_POLICY);
  if (isNone) return NO_POLICY;
  return wholly(namedPolicy)(value, { ...at, effect: 'every skill is held' }) ?? { ...NO_POLICY, from: '(wrong)' };
});

// --- internal ---

const LISTS = ['ids', 'owners', 'sources'] as const;
type Lists = { readonly [List in (typeof LISTS)[number]]?: readonly string[] };
interface PolicyFile {
  readonly version: number;
  readonly allowed?: Lists;
  readonly denied?: Lists;
  readonly required: readonly string[];
}

/** What can match nothing is wrong: who denies it would believe that it is held. */
const namesThat = (expected: string, canMatch: (name: string) => boolean) =>
  listOf(refine(someText, `expected ${expected}`, canMatch));
const ids = namesThat('the id of a skill, without its source and without "*"', (id) => !/[:*]/.test(id));
const owners = namesThat('acme (of GitHub), @acme (of npm), a host, or a host with the first folder', isOwner);
const sources = namesThat(
  'owner/repo, npm:<name>, or the address of a repository, page or server, without branch, version and folder',
  isSource,
);
const lists = objectOf<Lists>({ ids, owners, sources }, {});
const POLICY: Reader<PolicyFile> = objectOf<PolicyFile>(
  { version: integerFrom(1), allowed: lists, denied: lists, required: ids },
  { required: [] },
  ['version'],
);

function policyOf({ version, required, ...given }: PolicyFile): Policy {
  const [allowed, denied] = [given.allowed, given.denied].map((some) => ({
    ids: some?.ids && new Set(some.ids.map(slugOf)),
    owners: some?.owners && new Set(some.owners.map(ownerNamed)),
    sources: some?.sources && new Set(some.sources.map((name) => place(addressNamed(name)))),
  }));
  return {
    version,
    required,
    asksSources: [given.allowed, given.denied].some((some) => some?.owners ?? some?.sources),
    refuses({ id, sources, claimed = [] }) {
      const of = (keys: readonly string[]) => ({
        ids: id === undefined ? undefined : [slugOf(id)],
        owners: keys.flatMap(ownersOf),
        sources: keys.map(place),
      });
      const [known, said] = [of(sources), of([...sources, ...claimed])];
      for (const list of LISTS) {
        const what = { ids: 'the id', owners: 'the owner', sources: 'the source' }[list];
        const no = said[list]?.find((name) => denied?.[list]?.has(name));
        if (no !== undefined) return `denies ${what} "${no}"`;
        const rule = allowed?.[list];
        const those = known[list];
        if (rule && those && !those.some((name) => rule.has(name)))
          return `does not allow ${what} "${those.join('", "')}"`;
      }
      return undefined;
    },
  };
}

/** `owner/repo` is short for one on GitHub. */
function addressNamed(name: string): string {
  const short = /^[\w-]+\/[\w.-]+(?=\/?$)/.exec(name)?.[0];
  return short === undefined ? name : `https://github.com/${short}`;
}

function isSource(name: string): boolean {
  if (name === HERE || isAbsolute(name) || /^mcp:.*#[0-9a-f]{8}$/.test(name)) return true;
  if (name.startsWith('npm:')) return PACKAGE_NAME.test(name.slice('npm:'.length));
  const address = addressNamed(name);
  const isAddress = placeOf(address) !== address && !/[#\s]|\/-\/(?:tree|blob)\/|\/\.well-known\//.test(address);
  const [host, ...path] = place(address).split('/');
  return isAddress && (host !== 'github.com' || path.length === 2 || /\.(?:tar\.gz|tgz|zip)$/.test(address));
}

/** A host with a dot at its end is the same host. */
function place(source: string): string {
  return placeOf(source.replace(/^((?:[a-z]+:\/\/)?(?:[^/?#@]*@)?[^/?#@:]*[^./?#@:])\.(?=[/:?#]|$)/i, '$1'));
}

function ownerNamed(name: string): string {
  return (/^[^@].*[./:]/.test(name) ? place(`https://${name}`) : name).toLowerCase();
}

function isOwner(name: string): boolean {
  const owner = ownerNamed(name);
  if (owner === 'github.com' || !/^@?[^@#?\s]+$/.test(name)) return false;
  return owner === HERE || /^@[^/]+$|^(?:[\w-]|\[[\da-f:]+\])[\w.-]*(?::\d+)?(?:\/[^/]+)?$/.test(owner);
}

/** GitHub: `acme`. npm: `@acme`. Elsewhere: the host, and the host with the first folder: `gitlab.com/acme`. */
function ownersOf(source: string): readonly string[] {
  if (source === HERE) return [HERE];
  const scope = /^npm:(@[^/]+)\//.exec(source)?.[1];
  if (scope !== undefined) return [scope.toLowerCase()];
  if (!/^(?:https?|ssh|git):|^[\w.-]+@[\w.-]+:/i.test(source)) return [];
  const [host = '', first = ''] = place(source)
    .toLowerCase()
    .replace(/^[^/]*@/, '')
    .split('/');
  const owner = `${host}/${first}`;
  return host === 'github.com' ? [first, owner] : [host, owner];
}
