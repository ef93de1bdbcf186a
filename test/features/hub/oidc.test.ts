import { expect, it, vi } from 'vitest';
import type { OidcOptions } from '../../../extensions/skill_hub/api.ts';
import { DEPLOY, type Hub, type HubOptions, openHub, sentChange } from '../../helpers/hub.ts';
import { enter } from '../../helpers/hub-page.ts';
import {
  CLIENT,
  FORGED,
  freePort,
  hubWithProvider,
  oidcOf,
  type ScriptedProvider,
  scriptedProvider,
} from '../../helpers/identity-provider.ts';

/** A hub whose people log in at a provider that says what a test wants. */
async function withScripted(more: Partial<OidcOptions> = {}, options: HubOptions = {}) {
  const provider = await scriptedProvider();
  const port = await freePort();
  const hub = await openHub({ entrance: { oidc: oidcOf(provider.issuer, port, more) }, port, ...options });
  return { provider, hub };
}

const cookieOf = ({ headers }: Response, name: string): string =>
  headers
    .getSetCookie()
    .find((one) => one.startsWith(`skill_hub_${name}=`))
    ?.split(';')[0] ?? '';

const get = (hub: Pick<Hub, 'url'>, path: string, cookie = ''): Promise<Response> =>
  fetch(`${hub.url}${path}`, { redirect: 'manual', headers: { cookie } });

/** As far as the provider. */
async function begin(hub: Hub, provider?: ScriptedProvider) {
  const begun = await get(hub, '/login');
  const address = new URL(begun.headers.get('location') ?? '');
  if (provider) provider.nonce = address.searchParams.get('nonce') ?? '';
  return { address, flow: cookieOf(begun, 'login'), state: address.searchParams.get('state') ?? '' };
}

/** The whole way of a browser; the answer of the hub at its end. */
async function logIn(hub: Hub, provider: ScriptedProvider) {
  const { flow, state } = await begin(hub, provider);
  const answer = await get(hub, `/login/done?code=one&state=${state}`, flow);
  return { answer, cookie: cookieOf(answer, 'session'), status: answer.status };
}

/** A browser with cookies that follows to the page of the provider, logs in there, and follows back. */
async function throughProvider(hub: Hub, who: string) {
  const jar = new Map<string, string>();
  const visited: { readonly address: string; readonly cookie: string }[] = [];
  const ask = async (address: string, body?: URLSearchParams): Promise<{ response: Response; at: string }> => {
    const { origin } = new URL(address);
    const cookie = [...jar].flatMap(([key, value]) => (key.startsWith(`${origin} `) ? [value] : [])).join('; ');
    visited.push({ address, cookie });
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { cookie },
      ...(body ? { method: 'POST', body } : {}),
    });
    for (const one of response.headers.getSetCookie())
      jar.set(`${origin} ${one.split('=')[0]}`, one.split(';')[0] as string);
    const location = response.headers.get('location');
    return location === null ? { response, at: address } : ask(new URL(location, address).href);
  };
  const { at } = await ask(`${hub.url}/login`);
  const { response } = await ask(at, new URLSearchParams({ prompt: 'login', login: who, password: 'any' }));
  return { response, visited, cookie: jar.get(`${hub.url} skill_hub_session`) ?? '' };
}

it('lets in who logs in at the provider, as the person and with the role of its claims', async () => {
  const before = await openHub();
  const admin = await before.token('admin', 'root');
  await before.publish(admin, 'deploy', DEPLOY);
  await before.close();
  const account = (email: string, groups: readonly string[]) => ({ email: `${email}@shop.example`, groups });
  const accounts = { 'sub-bob': account('bob', ['others', 'reviewers']), 'sub-carol': account('Carol', ['reviewers']) };
  const hub = await hubWithProvider(accounts, { folder: before.folder, fourEyes: true });
  const carol = await hub.token('proposer', 'carol@shop.example');
  const sent = sentChange(await hub.digest(carol, 'deploy'));
  const { proposal_id: id } = (await hub.ask(carol, 'POST', '/proposals', sent)).json;
  expect(await (await get(hub, '/enter')).text()).toContain('href="/login"');
  const approve = async (who: string) => {
    const { response, cookie } = await throughProvider(hub, who);
    expect([response.status, response.url]).toEqual([200, `${hub.url}/`]);
    const browser = await enter(hub, { cookie });
    const page = (await browser.get(`/proposals/${id}`)).text;
    const fields = Object.fromEntries(['csrf', 'version', 'blocks'].map((name) => [name, browser.field(page, name)]));
    return browser.post(`/proposals/${id}/approve`, fields);
  };
  // Who has proposed by a token is the same person here.
  expect(await (await approve('sub-carol')).text()).toContain('four_eyes');
  expect((await approve('sub-bob')).status).toBe(303);
  expect((await hub.store.proposal('team', id))?.decided_by).toBe('person:bob@shop.example');
  expect(hub.errors).toEqual([]);
});

it('takes a code once, and only with what this browser has begun', async () => {
  const hub = await hubWithProvider({ 'sub-bob': { email: 'bob@shop.example', groups: 'reviewers' } });
  const { visited, response } = await throughProvider(hub, 'sub-bob');
  expect(response.status).toBe(200);
  const { address, cookie: used } = visited.find((one) => one.address.includes('/login/done')) as (typeof visited)[0];
  const done = new URL(address);
  const { flow } = await begin(hub);
  expect(used).toContain('skill_hub_login=');
  // A page of somebody else sends a browser here, to make it act as that other person.
  for (const cookie of [used, '', flow, 'skill_hub_login=x', `skill_hub_login=99999999999999.${'A'.repeat(32)}`])
    expect([cookie, (await get(hub, done.pathname + done.search, cookie)).status]).toEqual([cookie, 403]);
  expect(hub.errors.every(({ message }) => message.includes('not accepted'))).toBe(true);
});

it('believes no token that is not for this login at this hub', async () => {
  const { hub, provider } = await withScripted();
  const past = Math.floor(Date.now() / 1000) - 3600;
  const wrong: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'another-client' }],
    ['several audiences, and made for another one', { aud: ['another', CLIENT.client_id], azp: 'another' }],
    ['another nonce', { nonce: 'x' }],
    ['no nonce', { nonce: undefined }],
    ['it is over', { iat: past - 60, exp: past }],
    ['no end', { exp: undefined }],
    ['no subject', { sub: undefined }],
    ['no person', { email: undefined }],
    ['an empty person', { email: '' }],
    ['a person that is no text', { email: ['ada@shop.example'] }],
    ['a person with a sign that is not seen', { email: 'ada\u202e@shop.example' }],
    ['an email that is not verified', { email_verified: false }],
    ['an email of which nothing is said', { email_verified: undefined }],
    ['an email that is verified in words', { email_verified: 'true' }],
    ['no claim', { groups: undefined }],
    ['a claim without a known value', { groups: ['others', 'Reviewers', 'reviewers ', '__proto__', 'constructor'] }],
    ['a claim in a list in a list', { groups: [['reviewers']] }],
    ['a claim that is no text', { groups: { reviewers: true } }],
  ];
  for (const [why, claims] of wrong) {
    provider.says((right) => ({ ...right, ...claims }));
    const { status, cookie } = await logIn(hub, provider);
    expect([why, status, cookie]).toEqual([why, 403, '']);
  }
  for (const [why, token] of Object.entries(FORGED)) {
    provider.says((right) => right, token);
    const { status, cookie } = await logIn(hub, provider);
    expect([why, status, cookie]).toEqual([why, 403, '']);
  }
  provider.says((right) => right);
  expect((await logIn(hub, provider)).status).toBe(303);
  // A state that this browser has not begun with, none, and two.
  const { flow, state } = await begin(hub, provider);
  for (const query of [`state=${state}x`, 'state=', '', `state=${state}&state=x`])
    expect([query, (await get(hub, `/login/done?code=one&${query}`, flow)).status]).toEqual([query, 403]);
  // The secret went as the provider takes it, and the verifier of PKCE with it.
  const { form, authorization } = provider.asked.at(-1) ?? {};
  expect(form?.get('code_verifier')).toMatch(/^[\w-]{43}$/);
  expect(authorization).toMatch(/^Basic /);
});

it('gives the highest role of the values of the claim in each space, and opens one of them', async () => {
  const { hub, provider } = await withScripted();
  const pageOf = async (groups: unknown) => {
    provider.says((right) => ({ ...right, groups }));
    const { cookie } = await logIn(hub, provider);
    return (await (await get(hub, '/enter', cookie)).text()).replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  };
  expect(await pageOf('admins')).toContain('You are person:ada@shop.example. Your spaces: team admin');
  expect(await pageOf(['reviewers', 'admins', 'readers', 'reviewers', 'x'])).toMatch(/spaces: team admin +Log out/);
  expect(await pageOf(['ops', 'readers'])).toMatch(/spaces: ops reviewer team reader: nothing to decide/);
});

it('keeps the name that an account had first, and gives it to no second account', async () => {
  const { hub, provider } = await withScripted();
  const nameOf = async (sub: string, email: string) => {
    provider.says((right) => ({ ...right, sub, email }));
    const { answer, cookie, status } = await logIn(hub, provider);
    if (status !== 303) return [status, (await answer.text()).includes('Another account')];
    return /You are person:(\S+)\. /.exec(await (await get(hub, '/enter', cookie)).text())?.[1];
  };
  expect(await nameOf('sub-1', 'ada@shop.example')).toBe('ada@shop.example');
  // Another name would let one person approve what the other one has proposed.
  expect(await nameOf('sub-1', 'bob@shop.example')).toBe('ada@shop.example');
  expect(await nameOf('sub-2', 'Ada@Shop.example')).toEqual([403, true]);
  expect(await nameOf('sub-2', 'bob@shop.example')).toBe('bob@shop.example');
});

it('goes back to the address of the config, whatever a request says, and from there to the page', async () => {
  const { hub, provider } = await withScripted();
  const begun = await get(hub, '/login?next=https://evil.example&redirect_uri=https://evil.example/');
  const { searchParams } = new URL(begun.headers.get('location') ?? '');
  expect(searchParams.get('redirect_uri')).toBe(`${hub.url}/login/done`);
  expect([searchParams.get('code_challenge_method'), searchParams.get('response_type')]).toEqual(['S256', 'code']);
  const elsewhere = await fetch(`${hub.url}/login`, {
    redirect: 'manual',
    headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
  });
  expect(elsewhere.headers.get('location')).not.toContain('evil');
  const { flow, state } = await begin(hub, provider);
  const done = await get(hub, `/login/done?code=one&state=${state}&next=//evil.example`, flow);
  expect(done.headers.get('location')).toBe('/');
  expect(done.headers.getSetCookie().join('\n')).toMatch(
    /skill_hub_session=[\w-]{32}; Path=\/; HttpOnly; SameSite=Lax$/m,
  );
  // The provider says no.
  const denied = await begin(hub, provider);
  expect((await get(hub, `/login/done?error=access_denied&state=${denied.state}`, denied.flow)).status).toBe(403);
});

it('keeps its cookies to https and this host where the hub has such an address', async () => {
  const { hub } = await withScripted({ address: 'https://hub.example' });
  const begun = await get(hub, '/login');
  expect(begun.headers.get('location')).toContain(encodeURIComponent('https://hub.example/login/done'));
  expect(begun.headers.get('set-cookie')).toMatch(
    /^__Host-skill_hub_login=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  const token = await hub.token('reviewer', 'bob');
  const entered = await (await enter(hub, token)).attributes;
  expect(entered).toMatch(/^__Host-skill_hub_session=/);
  // One that a neighbouring host may have set is none.
  expect((await get(hub, '/catalog', entered.split(';')[0])).status).toBe(200);
  expect((await get(hub, '/catalog', entered.split(';')[0]?.replace('__Host-', ''))).status).toBe(401);
});

it('ends a session at log-out, at its end and when the person is removed, also of an open page', async () => {
  const { hub, provider } = await withScripted();
  const open = async () => {
    const { cookie } = await logIn(hub, provider);
    const events = await fetch(`${hub.url}/events`, { headers: { cookie } });
    expect(events.status).toBe(200);
    return { cookie, ended: events.text().catch(() => '') };
  };
  const isOver = async ({ cookie, ended }: { cookie: string; ended: Promise<string> }) => {
    expect((await get(hub, '/catalog', cookie)).status).toBe(401);
    expect((await get(hub, '/v1/spaces/team/changes', cookie)).status).toBe(401);
    await ended;
  };
  const first = await open();
  const leaving = await enter(hub, { cookie: first.cookie });
  expect((await leaving.post('/enter', { leave: 'yes' }, { origin: 'http://evil.example' })).status).toBe(403);
  expect((await get(hub, '/v1/spaces/team/changes', first.cookie)).status).toBe(200);
  expect((await leaving.post('/enter', { leave: 'yes' })).status).toBe(303);
  await isOver(first);
  const second = await open();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 4 * 3_600_000 });
  try {
    await isOver(second);
    const third = await open();
    await hub.store.removePerson({ key: 'person:ada@shop.example', person: 'person:ada@shop.example' }, 'person:root');
    await isOver(third);
    expect((await logIn(hub, provider)).status).toBe(403);
    const { flow, state } = await begin(hub, provider);
    vi.setSystemTime(Date.now() + 11 * 60_000);
    expect(await (await get(hub, `/login/done?code=one&state=${state}`, flow)).text()).toContain('took too long');
  } finally {
    vi.useRealTimers();
  }
});

it('says that the provider is away, and lets tokens in', async () => {
  const port = await freePort();
  const hub = await openHub({ entrance: { oidc: oidcOf('http://127.0.0.1:9', port) }, port });
  expect((await get(hub, '/login')).status).toBe(503);
  expect((await enter(hub, await hub.token('reviewer', 'bob'))).status).toBe(303);
  const other = await scriptedProvider(['client_secret_post']);
  const posting = await openHub({ entrance: { oidc: oidcOf(other.issuer, port) } });
  expect((await logIn(posting, other)).status).toBe(303);
  expect(other.asked[0]?.form.get('client_secret')).toBe(CLIENT.client_secret);
});

it('does not begin without the package that OpenID needs', async () => {
  vi.doMock('openid-client', () => ({ Issuer: 'of release 5' }));
  try {
    const oidc = oidcOf('http://127.0.0.1:9', await freePort());
    await expect(openHub({ entrance: { oidc } })).rejects.toMatchObject({ code: 'HUB_OIDC_MISSING' });
  } finally {
    vi.doUnmock('openid-client');
  }
});
