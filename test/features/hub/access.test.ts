import { expect, it } from 'vitest';
import { createLimits } from '../../../extensions/skill_hub/access.ts';
import { ROUTES } from '../../../extensions/skill_registry/features/hub/serve/routes-and-roles.ts';
import { hubFeed, hubHits, hubReceipt } from '../../../extensions/skill_registry/features/hub/wire.ts';
import { DEPLOY, openHub, sentChange, sentId } from '../../helpers/hub.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const ROLES = ['reader', 'proposer', 'reviewer', 'admin'] as const;

/** Of a route, with values for what its path names. */
function addressOf(path: string): string {
  return path.replace(':digest', `sha256:${'0'.repeat(64)}`).replace(':id', 'deploy');
}

it('answers no route but /healthz without a principal', async () => {
  const hub = await openHub();
  const reader = await hub.token('reader', 'ada');
  expect((await hub.ask(undefined, 'GET', '//healthz')).json).toEqual({ ok: true });
  const routes = ROUTES.map(({ method, path }) => [method, addressOf(path)] as const);
  const all = [...routes, ['GET', '//readyz'], ['GET', '/nothing'], ['GET', '//v1/x'], ['POST', '/changes']] as const;
  const wrong = [undefined, '', 'x', `skh_${'A'.repeat(43)}`, `${reader}x`, reader.slice(0, -1), `skh_${reader}`];
  for (const [method, path] of all)
    for (const token of wrong) {
      const { status, json, headers } = await hub.ask(token, method, path, method === 'GET' ? undefined : {});
      expect([method, path, token, status, json.error.code]).toEqual([method, path, token, 401, 'HUB_NO_PRINCIPAL']);
      expect(headers.get('www-authenticate')).toBe('Bearer');
    }
  expect((await hub.ask(reader, 'GET', '//readyz')).json).toEqual({ ok: true });
  expect((await hub.ask(reader, 'GET', '//v1/x')).json.error.code).toBe('HUB_NOT_FOUND');
  expect(hub.errors).toEqual([]);
});

it('opens a space to its own tokens, and says of another space the same as of none', async () => {
  const hub = await openHub();
  const admin = await hub.token('admin', 'ada');
  await hub.publish(admin, 'deploy', DEPLOY);
  const digest = await hub.digest(admin, 'deploy');
  const other = await hub.token('admin', 'eve', 'other');
  for (const { method, path } of ROUTES)
    for (const space of ['team', 'nowhere', '..', '%2e%2e', 'TEAM']) {
      const address = `//v1/spaces/${space}${addressOf(path)}`;
      const { status, json } = await hub.ask(other, method, address, method === 'GET' ? undefined : {});
      const isAddress = !['..', '%2e%2e'].includes(space);
      if (isAddress)
        expect([method, address, status, json.error.code]).toEqual([method, address, 403, 'HUB_FORBIDDEN']);
      else expect(status).toBeGreaterThanOrEqual(400);
    }
  // A digest is no permission.
  expect((await hub.ask(other, 'GET', `//v1/spaces/other/artifacts/${digest}`)).status).toBe(404);
  expect((await hub.ask(admin, 'GET', `/artifacts/${digest}`)).status).toBe(200);
});

it('lets each role do what its routes say, and nothing above', async () => {
  const hub = await openHub();
  for (const role of ROLES) {
    const token = await hub.token(role, role);
    for (const route of ROUTES) {
      const mayAsk = ROLES.indexOf(role) >= ROLES.indexOf(route.role);
      const { json, status } = await hub.ask(
        token,
        route.method,
        addressOf(route.path),
        route.method === 'GET' ? undefined : {},
      );
      const isForbidden = status === 403 && json.error.code === 'HUB_FORBIDDEN';
      expect([role, route.method, route.path, isForbidden]).toEqual([role, route.method, route.path, !mayAsk]);
    }
  }
  expect(hub.errors).toEqual([]);
});

it('shows a proposer the proposals of its person, and no others', async () => {
  const hub = await openHub();
  const admin = await hub.token('admin', 'ada');
  await hub.publish(admin, 'deploy', DEPLOY);
  const base = await hub.digest(admin, 'deploy');
  const [carol, dan] = [await hub.token('proposer', 'carol'), await hub.token('proposer', 'dan')];
  const sent = sentChange(base);
  const { proposal_id: id } = (await hub.ask(carol, 'POST', '/proposals', sent)).json;
  expect((await hub.ask(dan, 'GET', '/proposals')).json.proposals).toEqual([]);
  const { error } = (await hub.ask(dan, 'GET', `/proposals/${id}`)).json;
  const { error: ofNone } = (await hub.ask(dan, 'GET', '/proposals/none')).json;
  expect(error.code).toBe('PROPOSAL_NOT_FOUND');
  expect(error.message).toBe(ofNone.message.replace('none', id));
  expect((await hub.ask(carol, 'GET', `/proposals/${id}`)).json.author).toBe('person:carol');
  expect((await hub.ask(admin, 'GET', '/proposals')).json.proposals).toHaveLength(1);
});

it('refuses a revoked token at its next request, and ends its open poll within a second', async () => {
  const hub = await openHub();
  const reader = await hub.token('reader', 'ada');
  const began = performance.now();
  const polled = hub.ask(reader, 'GET', '/changes?wait=50');
  // Its first use is noted before it waits.
  const used = () => hub.store.tokens().then((all) => all.find(({ last_use: at }) => at !== null));
  const { id } = await waitFor('the poll to come in', used);
  expect(await hub.store.revokeToken(id, 'person:root')).toBe(true);
  expect((await hub.ask(reader, 'GET', '/changes')).status).toBe(401);
  expect((await polled).json.error.code).toBe('HUB_NO_PRINCIPAL');
  // Far from the fifty that it asked for.
  expect(performance.now() - began).toBeLessThan(20_000);
});

it('answers a poll when something changes, and the feed of another epoch or of a lower head at once', async () => {
  const hub = await openHub();
  const admin = await hub.token('admin', 'ada');
  const { epoch } = (await hub.ask(admin, 'GET', '/changes')).json;
  const polled = hub.ask(admin, 'GET', `/changes?after=0&epoch=${epoch}&wait=50`);
  await hub.publish(admin, 'deploy', DEPLOY);
  expect((await polled).json).toMatchObject({ epoch, head: 1, more: false, changes: [{ seq: 1, id: 'deploy' }] });
  for (const query of ['after=1&epoch=another', 'after=7'])
    expect((await hub.ask(admin, 'GET', `/changes?${query}&wait=50`)).json).toEqual({
      epoch,
      head: 1,
      more: false,
      changes: [],
    });
  // A stop ends what waits.
  const waiting = hub.ask(admin, 'GET', `/changes?after=1&epoch=${epoch}&wait=50`);
  await hub.ask(admin, 'GET', '//readyz');
  await hub.close();
  expect((await waiting).json.changes).toEqual([]);
});

it('limits requests and open polls of one principal, and not those of another', async () => {
  let now = 0;
  const limits = createLimits(() => now);
  const principal = { id: 'a' };
  const taken = (): number => {
    for (let count = 0; ; count++) {
      try {
        limits.take(principal);
      } catch {
        return count;
      }
    }
  };
  expect(taken()).toBe(500);
  limits.take({ id: 'b' });
  now += 1000;
  expect(taken()).toBe(50);
  const ends: (() => void)[] = [];
  const open = () => limits.waiting(principal, () => new Promise<void>((resolve) => ends.push(resolve)));
  const polls = Array.from({ length: 8 }, open);
  await expect(open()).rejects.toMatchObject({ code: 'HUB_BUSY' });
  ends[0]?.();
  await polls[0];
  const ninth = open();
  for (const end of ends) end();
  await Promise.all([...polls, ninth]);
});

it('refuses what is larger than a route takes before it has all of it, and what is no skill', async () => {
  const hub = await openHub();
  const admin = await hub.token('admin', 'ada');
  const large = 'x'.repeat(7 * 1024 * 1024);
  expect((await hub.ask(admin, 'POST', '/proposals', { id: large })).status).toBe(413);
  expect((await hub.ask(admin, 'POST', '/proposals/x/decide', { reason: large })).status).toBe(413);
  expect((await hub.ask(admin, 'POST', '/proposals', Buffer.from('{'))).json.error.code).toBe('INVALID_ARGUMENT');
  expect((await hub.ask(admin, 'PUT', '/skills/deploy', Buffer.from('no archive'))).json.error.code).toBe(
    'ORIGIN_REFUSED',
  );
  expect((await hub.publish(admin, 'deploy', 'no frontmatter')).status).toBe(422);
  expect((await hub.publish(admin, 'Deploy', DEPLOY)).status).toBe(400);
  expect((await hub.publish(admin, 'a%2f..%2fb', DEPLOY)).status).toBe(400);
  expect((await hub.ask(admin, 'GET', '/changes')).json.changes).toEqual([]);
  expect(hub.errors).toEqual([]);
});

it('answers as machines read it', async () => {
  const hub = await openHub();
  const admin = await hub.token('admin', 'ada');
  await hub.publish(admin, 'deploy', DEPLOY.replace('---\n\n', 'tags: [ops]\n---\n\n'));
  await hub.publish(admin, 'gone', DEPLOY.replaceAll('deploy', 'gone'));
  await hub.ask(admin, 'DELETE', '/skills/gone');
  const feed = hubFeed.parse((await hub.ask(admin, 'GET', '/changes')).json);
  expect(feed.changes.map(({ id, entry }) => [id, entry?.tags])).toEqual([
    ['deploy', ['ops']],
    ['gone', undefined],
  ]);
  const hits = hubHits.parse((await hub.ask(admin, 'GET', '/search?q=deploy+the+shop')).json);
  expect(hits.hits.map(({ id }) => id)).toEqual(['deploy']);
  const [{ entry }] = feed.changes as [(typeof feed.changes)[number]];
  const sent = { id: sentId(), skill_id: 'deploy', base: entry?.digest, content: DEPLOY, justification: 'Why.' };
  expect(hubReceipt.parse((await hub.ask(admin, 'POST', '/proposals', sent)).json).state).toBe('open');
  const index = (await hub.ask(admin, 'GET', '/.well-known/agent-skills/index.json')).json;
  expect(index.skills).toMatchObject([{ name: 'deploy', type: 'skill-md', digest: entry?.digest }]);
  const { pathname } = new URL(index.skills[0].url, `${hub.url}/v1/spaces/team/.well-known/agent-skills/index.json`);
  expect((await hub.ask(admin, 'GET', `/${pathname}`)).text).toContain('tags: [ops]');
});
