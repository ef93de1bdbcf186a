import { beforeEach, expect, it, vi } from 'vitest';
import { DEPLOY, type Hub, openHub } from '../../../helpers/hub.ts';
import { type HubMachine, hubMachine, TOKEN } from '../../../helpers/hub-machine.ts';
import { letHoursPass } from '../../../helpers/policy-page.ts';
import { problemsOf } from '../../../helpers/published-page.ts';
import { json, scriptedHub } from '../../../helpers/scripted-hub.ts';
import { TEA } from '../../../helpers/tea.ts';
import { tempFolder, writeTree } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const COOK = { agentId: 'cook' };

beforeEach(() => {
  vi.stubEnv('XDG_STATE_HOME', tempFolder());
  return () => void vi.unstubAllEnvs();
});

const say = ({ folder }: Pick<Hub, 'folder'>, policy: object | string, name = 'policy.team'): void =>
  writeTree(folder, { [`config/${name}.json`]: typeof policy === 'string' ? policy : JSON.stringify(policy) });

const seen = ({ registry }: Pick<HubMachine, 'registry'>): readonly string[] =>
  registry
    .visible(COOK)
    .map(({ id }) => id)
    .sort();

it('holds what the policy of its space denies, and goes on with the last right one', async () => {
  const hub = await openHub();
  const admin = await hub.token('admin', 'root');
  await hub.publish(admin, 'deploy', DEPLOY);
  await hub.publish(admin, 'bake', DEPLOY.replaceAll('deploy', 'bake'));
  say(hub, { version: 1, denied: { ids: ['bake'] } });
  say(hub, { version: 1, denied: { ids: ['deploy', 'bake'] } }, 'policy');
  say(hub, { version: 1, denied: { ids: ['deploy'] } }, 'policy.other');
  const secret = await hub.token('reader', 'ann');
  const ask = (etag?: string) =>
    fetch(`${hub.url}/v1/spaces/team/policy`, {
      headers: { authorization: `Bearer ${secret}`, ...(etag !== undefined && { 'if-none-match': etag }) },
    });
  const answer = await ask();
  expect([answer.status, (await ask(answer.headers.get('etag') ?? '')).status]).toEqual([200, 304]);
  const other = await hub.ask(secret, 'GET', '/v1/spaces/other/policy');
  expect(other.json.error.code).toBe('HUB_FORBIDDEN');
  expect((await hub.ask(undefined, 'GET', '/policy')).status).toBe(401);

  const machine = await hubMachine(hub, { secret });
  expect(seen(machine)).toEqual(['deploy']);
  await expect(machine.registry.read('bake', {}, COOK)).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  expect(problemsOf(machine.registry)).toEqual([expect.stringMatching(/^warning POLICY_DENIED.*bake/)]);
  const look = async () => {
    letHoursPass(1);
    const again = await hubMachine(hub, { ...machine, secret });
    await again.registry.refresh();
    return [seen(again), problemsOf(again.registry).map((one) => one.split(':')[0])];
  };
  say(hub, 'nothing that is right');
  expect(await look()).toEqual([['deploy'], expect.arrayContaining(['warning POLICY_REFUSED'])]);
  say(hub, { version: 2, allowed: { sources: [hub.url] } });
  expect(await look()).toEqual([['bake', 'deploy'], []]);
  say(hub, { version: 3, denied: { sources: [hub.url] } });
  expect(await look()).toEqual([[], ['warning POLICY_DENIED']]);
});

it.each(['its id', 'its address'])('holds everything without the policy of a hub that is named by %s', async (by) => {
  const hub = await scriptedHub({ tea: TEA });
  hub.answer = (path, response) => path.endsWith('/policy') && json(response, 200, { version: 1 });
  const root = tempFolder({ 'skills/pot/SKILL.md': TEA.replaceAll('tea', 'pot') });
  const sources = [{ hub: hub.url, token: TOKEN, id: 'team' }, { path: 'skills' }];
  const config = { sources, policy: { from: by === 'its id' ? 'team' : hub.url, max_age_hours: 2 } };
  const machine = await hubMachine(hub, { root, config });
  expect([seen(machine), problemsOf(machine.registry)]).toEqual([['pot', 'tea'], []]);
  await hub.away();
  letHoursPass(3);
  const later = await hubMachine(hub, { ...machine, config });
  expect(seen(later)).toEqual([]);
  expect(problemsOf(later.registry)).toContainEqual(
    expect.stringMatching(/^error POLICY_MISSING: Every skill is held/),
  );
  await hub.back();
  await waitFor('the policy', async () => {
    letHoursPass(0);
    const back = await hubMachine(hub, { ...machine, config });
    return seen(back).length === 2;
  });
});
