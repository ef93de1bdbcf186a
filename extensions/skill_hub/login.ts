import { createHmac, randomBytes } from 'node:crypto';
import type { Configuration } from 'openid-client';
import { CodedError, describeError } from 'skill-registry/kernel';
import { oneLine } from '../../lib/text/index.ts';
import type { HubGrant, OidcOptions } from './api.ts';

/** Who has logged in at the provider. */
export interface LoggedIn {
  /** Issuer and subject: the same for this account as long as it is there, and of no other one. */
  readonly account: string;
  readonly name: string;
  /** At least one. */
  readonly grants: readonly HubGrant[];
}

/** @throws HUB_OIDC_MISSING. */
export async function loadClient(): Promise<typeof import('openid-client')> {
  const client = await import('openid-client').catch(() => undefined);
  // Release 5 has other functions.
  if (client && 'discovery' in client) return client;
  const message = 'hub.oidc needs the package openid-client, which is not installed here: npm install openid-client@6';
  throw new CodedError('HUB_OIDC_MISSING', message);
}

/**
 * The authorization code flow with PKCE, state and nonce. Nothing of a flow is kept here: what it needs is made of the
 * text in the browser's cookie and a key of this process.
 */
export function createLogin(options: OidcOptions) {
  const { address, claim, person, roles, scope } = options;
  const key = randomBytes(32);
  const redirectUri = new URL('/login/done', address).href;
  const secretOf = (what: string, flow: string): string =>
    createHmac('sha256', key).update(`${what} ${flow}`).digest('base64url');
  let configured: Promise<Configuration> | undefined;
  const configuration = (): Promise<Configuration> => {
    configured ??= discover(options);
    configured.catch(() => {
      configured = undefined;
    });
    return configured;
  };
  return {
    /** @returns where the browser goes, and the text of its cookie. @throws when the provider does not answer. */
    async begin(): Promise<{ readonly location: string; readonly flow: string }> {
      const client = await loadClient();
      const flow = `${Date.now() + FLOW_MS}.${randomBytes(24).toString('base64url')}`;
      const location = client.buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope,
        state: secretOf('state', flow),
        nonce: secretOf('nonce', flow),
        code_challenge: await client.calculatePKCECodeChallenge(secretOf('verifier', flow)),
        code_challenge_method: 'S256',
      });
      return { location: location.href, flow };
    },
    /** @param flow - Of the cookie. @throws HUB_LOGIN_REFUSED. */
    async finish({ url }: Request, flow: string): Promise<LoggedIn> {
      const [, until = '0'] = /^(\d+)\.[\w-]{32}$/.exec(flow) ?? [];
      if (Number(until) < Date.now()) throw refused('it was not begun in this browser, or took too long. Try again.');
      const client = await loadClient();
      const answer = new URL(redirectUri);
      answer.search = new URL(url).search;
      const checks = {
        expectedState: secretOf('state', flow),
        expectedNonce: secretOf('nonce', flow),
        pkceCodeVerifier: secretOf('verifier', flow),
        idTokenExpected: true,
      };
      const asked = configuration().then((config) => client.authorizationCodeGrant(config, answer, checks));
      const tokens = await asked.catch((error: unknown) => {
        throw refused(`${oneLine(describeError(error), 200)}. Try again.`, error);
      });
      const claims: Readonly<Record<string, unknown>> = tokens.claims() ?? {};
      const name = claims[person];
      if (typeof name !== 'string' || name === '') throw refused(`the provider does not say the claim ${person}.`);
      if (person === 'email' && claims.email_verified !== true)
        throw refused('the provider has not verified the email.');
      const grants = [claims[claim]].flat().flatMap((value) => roles.get(value as string) ?? []);
      if (grants.length === 0) throw refused(`the claim ${claim} of ${name} gives no role here.`);
      return { account: `${claims.iss} ${claims.sub}`, name, grants };
    },
  };
}

// --- internal ---

const FLOW_MS = 10 * 60_000;
const TIMEOUT_SECONDS = 10;

async function discover({ issuer, client_id: clientId, client_secret: secret }: OidcOptions): Promise<Configuration> {
  const client = await loadClient();
  const insecure = issuer.startsWith('http:') ? [client.allowInsecureRequests] : [];
  const execute = [...insecure, client.enableNonRepudiationChecks];
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  // In a form where that is taken: not every provider decodes a header as the standard says.
  return client.discovery(
    new URL(issuer),
    clientId,
    {},
    (server, ...rest) => {
      const inForm = server.token_endpoint_auth_methods_supported?.includes('client_secret_post');
      (inForm ? post : basic)(server, ...rest);
    },
    { execute, timeout: TIMEOUT_SECONDS },
  );
}

function refused(why: string, cause?: unknown): CodedError {
  return new CodedError('HUB_LOGIN_REFUSED', `The login was not accepted: ${why}`, {}, cause);
}
