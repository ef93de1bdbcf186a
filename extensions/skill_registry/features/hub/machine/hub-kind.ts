import type { Problem } from 'skill-registry/kernel';
import { unapprovedRootProblem } from '../../../../../kernel/host.ts';
import { bool, listOf, oneOf, type Reader, readerOf, refine, text, textLike } from '../../../core/config/readers.ts';
import { sourceWithoutSkills } from '../../../core/sources/kinds/memory-source.ts';
import type { SourceKind } from '../../../core/sources/source-kind.ts';
import { headersWithSecrets, type SecretHeaders } from '../../install/secret-headers.ts';
import { pageAddress } from '../../pages/door.ts';
import { SPACE, SPACE_EXPECTED, secret } from '../config.ts';

const ADDRESSES = 'expected an https: address (http: only on this machine), or a list of two that are the same hub';
const ADDRESS: Reader<string> = refine(text, ADDRESSES, (address) => pageAddress(address) !== undefined);
const LIST = refine(listOf(ADDRESS), ADDRESSES, ({ length }) => length === 1 || length === 2);

/** One or two. A wrong one refuses the entry. */
const addresses: Reader<string | readonly string[]> = readerOf(
  { anyOf: [ADDRESS.schema, LIST.schema] },
  (value, at): string | readonly string[] | undefined => {
    if (!Array.isArray(value)) return ADDRESS(value, at);
    const read = LIST(value, at);
    return read?.length === value.length ? read : undefined;
  },
);

/** A space of a hub: its entries follow the feed, a body comes when it is read, and proposals are decided there. */
export const hubKind: SourceKind = {
  key: 'hub',
  entry: {
    hub: addresses,
    space: textLike(SPACE, `expected ${SPACE_EXPECTED}`),
    token: secret,
    only: listOf(text),
    allowances: bool,
    usage: oneOf('share'),
  },
  hidden: ['token'],
  async open({ hub = [], space = DEFAULT_SPACE, token: name, only, allowances = false, usage }, host) {
    const { asksForSecrets, getSecret = () => undefined, idOr, mayName, options, root, trusted } = host;
    const named = [hub].flat().map((one) => pageAddress(one) ?? '');
    const [first = ''] = named;
    const id = idOr(new URL(first).hostname);
    if (!trusted || name === undefined) {
      const problem = trusted ? withoutToken(first) : unapprovedRootProblem(root, [`sources (${first})`]);
      return [sourceWithoutSkills({ id, kind: 'hub', location: first }, problem)];
    }
    const allows = asksForSecrets ? 'decided' : 'all';
    const headers = bearer(name);
    const headersOf = (url: string) => headersWithSecrets({ url, headers, getSecret, allows });
    const { createHubSource } = await import('./hub-source.ts');
    const of = { id, mayName, only, allowances, shares: usage === 'share', options, root, space };
    return [createHubSource({ ...of, addresses: named, headersOf, secret: headers })];
  },
};

// --- internal ---

const DEFAULT_SPACE = 'team';

/** A hub answers nobody without one. */
function withoutToken(file: string): Problem {
  const message = `Nothing is asked of ${file}: its entry has no token. Add the name of the secret that is this machine's token: token: "\${HUB_TOKEN}"`;
  return { code: 'SECRET_MISSING', severity: 'error', file, message };
}

function bearer(name: string): SecretHeaders {
  return { Authorization: `Bearer ${name}` };
}
