import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import type { HubGrant, OidcOptions } from '../../extensions/skill_hub/api.ts';
import { type Hub, type HubOptions, openHub } from './hub.ts';
import { serve } from './serve.ts';

type Claims = Readonly<Record<string, unknown>>;

/** What the hub asks of a provider. */
export const CLIENT = { client_id: 'hub', client_secret: 'a-secret-of-hub-and-provider' } as const;

const ROLES: ReadonlyMap<string, HubGrant> = new Map([
  ['readers', { space: 'team', role: 'reader' }],
  ['reviewers', { space: 'team', role: 'reviewer' }],
  ['admins', { space: 'team', role: 'admin' }],
  ['ops', { space: 'ops', role: 'reviewer' }],
]);

/** For a hub at this port. */
export function oidcOf(issuer: string, port: number, more: Partial<OidcOptions> = {}): OidcOptions {
  const [claim, scope, person] = ['groups', 'openid email', 'email'];
  return { issuer, ...CLIENT, address: `http://127.0.0.1:${port}`, claim, roles: ROLES, person, scope, ...more };
}

/** A port that was free a moment ago: a provider wants to know the address of a hub before it is there. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * The package oidc-provider with its own pages, where each password is right. @param accounts - Claims by subject.
 * @returns its address.
 */
async function identityProvider(redirectUri: string, accounts: Readonly<Record<string, Claims>>): Promise<string> {
  // It warns of what is right in a test.
  for (const method of ['info', 'warn'] as const) vi.spyOn(console, method).mockImplementation(() => undefined);
  onTestFinished(() => void vi.restoreAllMocks());
  // @ts-expect-error: it has no types of its own.
  const { Provider } = await import('oidc-provider');
  let callback: (...asked: readonly unknown[]) => void = () => undefined;
  const served = await serve((request, response) => callback(request, response));
  const issuer = served.replace('127.0.0.1', 'localhost');
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['for-this-test'] },
    pkce: { required: () => true },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, email_verified: true, ...accounts[sub] }),
    }),
    // Nobody is asked whether the hub may know who they are.
    async loadExistingGrant({ oidc }: { oidc: { client: { clientId: string }; session: { accountId: string } } }) {
      const { clientId } = oidc.client;
      const grant = new provider.Grant({ clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
  });
  callback = provider.callback();
  return issuer;
}

/** A hub whose people log in at the package oidc-provider, which browsers take for another site. */
export async function hubWithProvider(
  accounts: Readonly<Record<string, Claims>>,
  options: HubOptions = {},
): Promise<Hub> {
  const port = await freePort();
  const issuer = await identityProvider(`http://127.0.0.1:${port}/login/done`, accounts);
  return openHub({ entrance: { oidc: oidcOf(issuer, port) }, port, ...options });
}

export interface ScriptedProvider {
  readonly issuer: string;
  /** What its tokens say from now on: changes of right claims, or all of a token. */
  says(claims: (right: Claims) => Claims, token?: (right: Claims) => string): void;
  /** Of the next token. */
  nonce: string;
  readonly asked: { readonly form: URLSearchParams; readonly authorization: string | undefined }[];
}

/** Answers every code with a token that says what a test wants. */
export async function scriptedProvider(methods?: readonly string[]): Promise<ScriptedProvider> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const signed = (claims: Claims) => signedBy(privateKey, claims);
  let [claimsOf, tokenOf] = [(right: Claims) => right, signed];
  const answer = (path: string, form: URLSearchParams): unknown => {
    if (path === '/jwks')
      return { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] };
    if (path !== '/token')
      return {
        issuer: provider.issuer,
        authorization_endpoint: `${provider.issuer}/authorize`,
        token_endpoint: `${provider.issuer}/token`,
        jwks_uri: `${provider.issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256'],
        ...(methods && { token_endpoint_auth_methods_supported: methods }),
      };
    const now = Math.floor(Date.now() / 1000);
    const right = {
      iss: provider.issuer,
      aud: CLIENT.client_id,
      sub: 'subject-1',
      nonce: provider.nonce,
      iat: now,
      exp: now + 60,
    };
    const claims = claimsOf({ ...right, email: 'ada@shop.example', email_verified: true, groups: ['reviewers'] });
    return { access_token: form.get('code'), token_type: 'Bearer', id_token: tokenOf(claims) };
  };
  const issuer = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const form = new URLSearchParams(String(Buffer.concat(chunks)));
      if (request.url === '/token') provider.asked.push({ form, authorization: request.headers.authorization });
      const said = JSON.stringify(answer(request.url ?? '', form));
      response.writeHead(200, { 'content-type': 'application/json' }).end(said);
    });
  });
  const provider: ScriptedProvider = {
    issuer,
    nonce: '',
    asked: [],
    says(claims, token = signed) {
      [claimsOf, tokenOf] = [claims, token];
    },
  };
  return provider;
}

/** Tokens that nobody has signed, or somebody else. */
export const FORGED: Readonly<Record<string, (claims: Claims) => string>> = {
  unsigned: (claims) => `${withHeader({ alg: 'none' }, claims)}.`,
  'signed with the secret of the client': (claims) => {
    const text = withHeader({ alg: 'HS256' }, claims);
    return `${text}.${createHmac('sha256', CLIENT.client_secret).update(text).digest('base64url')}`;
  },
  'signed by somebody else': (claims) =>
    signedBy(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, claims),
};

// --- internal ---

function withHeader(header: Claims, claims: Claims): string {
  return [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}

function signedBy(key: KeyObject, claims: Claims): string {
  const text = withHeader({ alg: 'RS256', kid: 'one' }, claims);
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}
