import { expect, it } from 'vitest';
import { entranceOf, readHubConfig, unknownOf } from '../../../extensions/skill_registry/features/hub/config.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { tempFolder, writeTree } from '../../helpers/temp-folder.ts';

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
    ['--role', 'admin', '--days', '0.5'],
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

it('reads what the config says, and refuses one that does not say it plainly', () => {
  const of = (text: string) => readHubConfig(tempFolder({ 'data/skill_registry/config.yaml': text }));
  expect(readHubConfig(tempFolder())).toEqual({ four_eyes: false });
  expect(of('')).toEqual({ four_eyes: false });
  expect(of('usage: false\n')).toEqual({ four_eyes: false });
  expect(of('hub: { four_eyes: true }\n')).toEqual({ four_eyes: true });
  expect(of('hub: { four_eyes: false }\n')).toEqual({ four_eyes: false });
  const [oidc, proxy] = [wholeOidc(), `header: X-User, secret_header: X-Secret, secret: "\${PROXY}"`];
  expect(of(`hub: { oidc: { ${oidc} } }`).oidc).toMatchObject({ person: 'email', scope: 'openid email' });
  const wrong = [
    ...['hub: { four_eyes: yes please }', 'hub: { foureyes: true }', 'hub: true', 'hub:', 'hub: [', 'a: b: c'],
    `hub: { oidc: { ${oidc} }, proxy: { ${proxy} } }`,
    `hub: { oidc: { ${wholeOidc({ issuer: 'http://login.example' })} } }`,
    `hub: { oidc: { ${wholeOidc({ address: 'https://hub.example/below' })} } }`,
    `hub: { oidc: { ${wholeOidc({ roles: '{ a: owner }' })} } }`,
    `hub: { oidc: { ${wholeOidc({ roles: '{ a: ../reviewer }' })} } }`,
    `hub: { oidc: { ${wholeOidc({ client_secret: 'kept-in-the-file' })} } }`,
    `hub: { proxy: { ${proxy}, unknown: reviewer } }`,
    'hub: { proxy: { header: X-User } }',
  ];
  for (const text of wrong) expect(() => of(text)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  expect(() => of(wrong[11] ?? '')).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining('kept-in') }),
  );
});

it('takes secrets that the config names, and refuses none and short ones', () => {
  const config = (text: string) => readHubConfig(tempFolder({ 'data/skill_registry/config.yaml': text }));
  const proxied = config(
    `hub: { proxy: { header: X-User, secret_header: X-Secret, secret: "\${S}", unknown: ops/reader } }`,
  );
  const long = 'a-long-secret-of-the-proxy';
  expect(entranceOf(proxied, () => long).proxy).toMatchObject({
    header: 'X-User',
    secret_header: 'X-Secret',
    secret: long,
  });
  expect(unknownOf(proxied)).toEqual([{ space: 'ops', role: 'reader' }]);
  for (const secret of [undefined, '', 'short'])
    expect(() => entranceOf(proxied, () => secret)).toThrow(expect.objectContaining({ code: 'SECRET_MISSING' }));
  const { oidc } = entranceOf(
    config(`hub: { oidc: { ${wholeOidc({ roles: '{ a: admin, b: ops/reader }' })} } }`),
    () => long,
  );
  expect([...(oidc?.roles ?? [])]).toEqual([
    ['a', { space: 'team', role: 'admin' }],
    ['b', { space: 'ops', role: 'reader' }],
  ]);
});

it('lists people with their roles, and says which tokens somebody still has who was removed', async () => {
  const data = tempFolder();
  const hub = (...args: readonly string[]) => runCommand(['hub', ...args, '--data', data]);
  await hub('token', 'add', '--space', 'team', '--role', 'reader', '--person', 'Ada');
  const added = (name: string, role: string) => hub('person', 'add', name, '--space', 'team', '--role', role);
  expect(await added('ada', 'reader')).toMatchObject({ status: 0, stderr: expect.not.stringContaining('claim') });
  writeTree(data, { 'data/skill_registry/config.yaml': `hub: { oidc: { ${wholeOidc()} } }` });
  expect((await added('ada', 'reviewer')).stderr).toContain('the roles that the claim groups gives, not this one');
  expect((await added('bob', 'owner')).status).toBe(2);
  expect((await added('agent:x', 'reader')).status).toBe(2);
  expect((await added('Lovelace, Ada', 'reader')).stderr).toContain('comma');
  expect((await hub('person', 'list')).stdout).toMatch(/person:ada\s+team\s+reviewer/);
  expect((await hub('person', 'remove', 'ada')).stderr).toMatch(/still valid: hub token revoke [0-9a-f]{12}/);
  expect((await hub('person', 'list')).stdout).toMatch(/person:ada\s+removed/);
  const { rows } = JSON.parse((await hub('audit', '--json')).stdout);
  expect(rows.map((row: { what: string }) => row.what)).toEqual([
    'token add',
    'person add',
    'person add',
    'person remove',
  ]);
});

// --- internal ---

function wholeOidc(more: Readonly<Record<string, string>> = {}): string {
  const all = {
    ...{ issuer: 'https://login.example', client_id: 'hub', client_secret: `"\${OIDC}"`, claim: 'groups' },
    ...{ address: 'https://hub.example', roles: '{ a: admin }', ...more },
  };
  return Object.entries(all)
    .map(([key, value]) => `${key}: ${value}`)
    .join(', ');
}
