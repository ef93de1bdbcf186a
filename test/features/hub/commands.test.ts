import { expect, it } from 'vitest';
import { isFourEyes } from '../../../extensions/skill_registry/features/hub/commands/data.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

it('shows a token once, lists it without itself, and knows that it is over or revoked', async () => {
  const data = tempFolder();
  const hub = (...args: readonly string[]) => runCommand(['hub', ...args, '--data', data]);
  const wanted = ['--space', 'team', '--person', 'ada'];
  const added = await hub('token', 'add', ...wanted, '--role', 'admin', '--days', '30');
  expect(added.stdout).toMatch(/^skh_[\w-]{43}\n$/);
  const list = await hub('token', 'list', '--json');
  expect(list.stdout).not.toContain(added.stdout.trim());
  const [{ id, person, expires }] = JSON.parse(list.stdout).tokens;
  expect([person, typeof expires]).toEqual(['person:ada', 'string']);
  expect((await hub('token', 'revoke', id)).status).toBe(0);
  expect((await hub('token', 'list')).stdout).toMatch(/admin\s+person:ada\s+revoked/);
  const wrong = [
    ['--role', 'owner'],
    ['--role', 'admin', '--days', '0'],
    ['--role', 'admin', '--space', '../x'],
    ['--role', 'admin', '--person', 'agent:x'],
    ['--role', 'admin', '--person', 'a\u202eb'],
  ];
  for (const args of wrong) expect([args, (await hub('token', 'add', ...wanted, ...args)).status]).toEqual([args, 2]);
  const audit = await hub('audit', '--json');
  expect(JSON.parse(audit.stdout)).toMatchObject({
    rows: [{ what: 'token add' }, { what: 'token revoke' }],
    broken: null,
  });
});

it('reads four_eyes, and refuses a config that does not say plainly what it wants', () => {
  const of = (text: string) => isFourEyes(tempFolder({ 'data/skill_registry/config.yaml': text }));
  expect(isFourEyes(tempFolder())).toBe(false);
  expect(of('')).toBe(false);
  expect(of('usage: false\n')).toBe(false);
  expect(of('hub: { four_eyes: true }\n')).toBe(true);
  expect(of('hub: { four_eyes: false }\n')).toBe(false);
  for (const text of ['hub: { four_eyes: yes please }', 'hub: { foureyes: true }', 'hub: true', 'hub: [', 'a: b: c'])
    expect(() => of(text)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
});
