import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from 'skill-registry/kernel';
import { readMapping } from '../../../../kernel/host.ts';
import { readNamedFile } from '../../../../lib/files/index.ts';
import type { HubEntrance, HubGrant, HubRole } from '../../../skill_hub/api.ts';
import { collectProblems } from '../../core/config/config-problems.ts';
import {
  bool,
  objectOf,
  type Reader,
  readerOf,
  recordOf,
  refine,
  someText,
  textLike,
  wholly,
} from '../../core/config/readers.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { pageAddress } from '../pages/door.ts';
import type { HubConfig, HubOidc, HubProxy } from './api.ts';
import { ROLES } from './store/hub-store.ts';

export const NO_HUB: HubConfig = { four_eyes: false };
/** Name of a space. */
export const SPACE: RegExp = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const SPACE_EXPECTED = 'lower-case letters, digits and hyphens, at most 63';

const address: Reader<string> = refine(
  someText,
  'expected an https: address (http: only on this machine)',
  (given) => pageAddress(given) !== undefined,
);
const origin: Reader<string> = refine(
  address,
  'expected an address without a path',
  (given) => pageAddress(given) === new URL(given).origin,
);
/** A secret that was written here by mistake is not shown. */
export const secret: Reader<string> = readerOf({ type: 'string' }, (value, at) => {
  if (typeof value === 'string' && SECRET.test(value)) return value;
  at.report({ ...at, isSecret: true }, value, SECRET_EXPECTED);
  return undefined;
});
const SECRET_EXPECTED = 'expected $' + '{NAME} of a secret; a secret itself is never written down';
const SECRET = /^\$\{(\w+)\}$/;
const header: Reader<string> = textLike(/^[A-Za-z0-9-]+$/, 'expected the name of a header');
/** `role` in the space `team`, or `space/role`. */
const GRANT = new RegExp(`^(?:${SPACE.source.slice(1, -1)}/)?(?:${ROLES.join('|')})$`);
const GRANT_EXPECTED = `one of ${ROLES.join(', ')}; the name of a space has ${SPACE_EXPECTED}`;
const grant: Reader<string> = textLike(GRANT, `expected ${GRANT_EXPECTED}, and stands before: ops/reviewer`);

const oidc: Reader<HubOidc> = objectOf<HubOidc>(
  {
    issuer: address,
    client_id: someText,
    client_secret: secret,
    address: origin,
    claim: someText,
    roles: recordOf(grant),
    person: someText,
    scope: textLike(/\bopenid\b/, 'expected openid, and what else is asked for'),
  },
  { person: 'email', scope: 'openid email' },
  ['issuer', 'client_id', 'client_secret', 'address', 'claim', 'roles'],
);

const proxy: Reader<HubProxy> = objectOf<HubProxy>(
  {
    header,
    secret_header: header,
    secret,
    unknown: refine(grant, 'expected reader', (given) => grantOf(given).role === 'reader'),
  },
  {},
  ['header', 'secret_header', 'secret'],
);

/** People come by one way: of two, one could be used to be somebody else at the other. */
export const hubConfig: Reader<HubConfig> = refine(
  objectOf<HubConfig>({ four_eyes: bool, oidc, proxy }, NO_HUB),
  'expected oidc or proxy, not both',
  (hub) => !(hub.oidc && hub.proxy),
);

/** What the config of the folder says. One that cannot be read must not end four eyes. @throws CONFIG_INVALID. */
export function readHubConfig(data: string): HubConfig {
  const file = join(data, 'data', 'skill_registry', 'config.yaml');
  if (!existsSync(file)) return NO_HUB;
  const read = readMapping(readNamedFile(file, MAX_CONFIG, { own: true }).toString('utf8'));
  if ('reason' in read && read.isEmpty) return NO_HUB;
  const { at, problems } = collectProblems(file, ['hub'], 'nothing is served', { secrets: [] });
  const { hub = NO_HUB } = 'values' in read ? read.values : { hub: null };
  const config = wholly(hubConfig)(hub, at);
  if (config) return config;
  const why = 'values' in read ? problems().map(({ message }) => message) : [`It is no YAML: ${read.reason}.`];
  throw new CodedError('CONFIG_INVALID', `${file}: ${why.join(' ')}`, { file });
}

/** With the secrets that the config names. @throws SECRET_MISSING. */
export function entranceOf({ oidc, proxy }: HubConfig, getSecret: (name: string) => string | undefined): HubEntrance {
  const filled = (text: string): string => {
    const name = SECRET.exec(text)?.[1] ?? '';
    const found = getSecret(name) ?? '';
    if (found.length >= LEAST_SECRET) return found;
    const message = `The config of the hub names the secret ${name}, which is not set, or has fewer than ${LEAST_SECRET} characters. Set it in the environment, or in .env of the folder.`;
    throw new CodedError('SECRET_MISSING', message, { name });
  };
  const roles = new Map(Object.entries(oidc?.roles ?? {}).map(([value, given]) => [value, grantOf(given)]));
  return {
    oidc: oidc && { ...oidc, client_secret: filled(oidc.client_secret), roles },
    proxy: proxy && { ...proxy, secret: filled(proxy.secret) },
  };
}

/** @throws INVALID_ARGUMENT. */
export function grantNamed({ space, role }: { readonly space: string; readonly role: string }): HubGrant {
  if (GRANT.test(`${space}/${role}`)) return grantOf(`${space}/${role}`);
  throw invalidArgument(`The role is ${GRANT_EXPECTED}.`);
}

/** What `unknown` of the config gives. */
export function unknownOf({ proxy }: HubConfig): readonly HubGrant[] {
  return proxy?.unknown === undefined ? [] : [grantOf(proxy.unknown)];
}

// --- internal ---

const MAX_CONFIG = 1_048_576;
const LEAST_SECRET = 16;
const DEFAULT_SPACE = 'team';

function grantOf(given: string): HubGrant {
  const [role = '', space = DEFAULT_SPACE] = given.split('/').reverse();
  return { space, role: role as HubRole };
}
