import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { describe, expect, it } from 'vitest';
import { extension, versionsLoaded, waitingCode } from '../helpers/half-approved.ts';
import { callTool, stdioClient } from '../helpers/mcp.ts';
import { spawnCommand } from '../helpers/run-command.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

// Runs in a copy of the tree without features only (test/wall/tests.mjs), on the command that was built there.

const SECRET = 'token=hunter2';
const TEA = skillMd({ name: 'tea', description: 'Brews tea.' }, 'Boil water.');

/** Sound skills beside broken ones, and links that lead out of the root. */
function rootWithFaults(): string {
  const outside = tempFolder({
    'notes.txt': SECRET,
    'stolen/SKILL.md': skillMd({ name: 'stolen', description: SECRET }, SECRET),
  });
  return tempFolder({
    'skills/tea/SKILL.md': TEA,
    'skills/tea/references/pot.md': 'A pot.',
    'skills/tea/references/notes.md': { link: join(outside, 'notes.txt') },
    'skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'Washes cups.' }, 'Use soap.'),
    'skills/empty/SKILL.md': '',
    'skills/open/SKILL.md': '---\nname: open\ndescription: [never closed\n---\n\nBody.',
    'skills/bytes/SKILL.md': Uint8Array.from([0xff, 0xfe, 0x00, 0x2d]),
    'skills/nowhere/SKILL.md': { link: 'missing.md' },
    'skills/stolen': { link: join(outside, 'stolen') },
    'skills/linked/SKILL.md': { link: join(outside, 'stolen/SKILL.md') },
  });
}

describe('the command without features', () => {
  it.each([
    ['list', ['list']],
    ['list --json', ['list', '--json']],
    ['mcp', ['mcp']],
    ['mcp --http', ['mcp', '--http', '0']],
    ['start', ['start']],
  ])('does nothing without a guard, and says so: %s', async (_title, args) => {
    // What a root or an environment says is no decision of a person.
    const root = tempFolder({ 'skills/tea/SKILL.md': TEA, 'data/skill_registry/config.yaml': 'noGuard: true\n' });
    const environment = { NO_GUARD: '1', SKILL_NO_GUARD: '1' };
    const { status, stdout, stderr } = await spawnCommand([...args, '--root', root], { environment });
    expect(stderr).toContain('GUARD_MISSING');
    expect(stdout).not.toContain('tea');
    expect(status).toBeGreaterThan(0);
  });

  it('lists with --no-guard, and says that nothing is inspected', async () => {
    const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
    const { status, stdout, stderr } = await spawnCommand(['list', '--no-guard', '--root', root]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('tea') });
    expect(stderr).toContain('nothing inspects skills');
  });

  it('never serves other machines without a guard', async () => {
    const { status, stderr } = await spawnCommand(['mcp', '--http', '0', '--no-guard', '--root', tempFolder()]);
    expect(stderr).toContain('--no-guard');
    expect(status).toBe(2);
  });
});

describe('an MCP client', () => {
  it('lists, searches and reads, over broken files and links that lead out', async () => {
    const { client } = await stdioClient(['--no-guard', '--root', rootWithFaults()]);
    const found = await callTool(client, 'list_skills', {});
    const ids = (found.result.skills as readonly { readonly skill_id: string }[]).map(({ skill_id }) => skill_id);
    expect(ids).toEqual(expect.arrayContaining(['cup', 'tea']));
    expect(ids).not.toContain('stolen');
    const searched = await callTool(client, 'list_skills', { query: 'brew' });
    expect(searched.result.skills).toMatchObject([{ skill_id: 'tea' }]);
    const read = await callTool(client, 'read_skill', { skill_id: 'tea' });
    expect(read.result).toMatchObject({ content: 'Boil water.' });
    const pot = { skill_id: 'tea', path: 'references/pot.md' };
    expect((await callTool(client, 'read_skill_resource', pot)).result).toMatchObject({ content: 'A pot.' });
    const out = await callTool(client, 'read_skill_resource', { skill_id: 'tea', path: 'references/notes.md' });
    expect(out.isError).toBe(true);
    const gone = await callTool(client, 'read_skill', { skill_id: 'stolen' });
    expect(gone.isError).toBe(true);
    expect(JSON.stringify([found, searched, read, out, gone])).not.toContain(SECRET);
  });

  it('gets the same by the Skills extension', async () => {
    const skills = new SkillsClient((await stdioClient(['--no-guard', '--root', rootWithFaults()])).client);
    const { skills: entries } = await skills.list();
    expect(entries.map(({ uri }) => uri)).toEqual(expect.arrayContaining(['skill://cup/SKILL.md']));
    const [cup] = entries.filter(({ uri }) => uri === 'skill://cup/SKILL.md');
    if (!cup) throw new Error('no entry');
    expect(await skills.read(cup, cup.uri)).toMatchObject({ verified: true, text: expect.stringContaining('soap') });
    expect(JSON.stringify(entries)).not.toContain(SECRET);
  });
});

describe('a root that nobody has approved', () => {
  it('is data: its extensions do not run', async () => {
    const ran = join(tempFolder(), 'ran');
    const marking = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(ran)}, '');`;
    const root = tempFolder(extension('evil', marking));
    const start = (trust: boolean) => spawnCommand(['start', '--root', root], { trust });
    expect((await start(false)).stderr).toContain('Nobody has approved this root');
    expect(existsSync(ran)).toBe(false);
    await start(true);
    expect(existsSync(ran)).toBe(true);
  });

  it('is data: its settings do not take effect', async () => {
    const outside = tempFolder({ 'far/SKILL.md': skillMd({ name: 'far', description: 'Far away.' }) });
    const root = tempFolder({ 'data/skill_registry/config.yaml': `sources: [{ path: ${JSON.stringify(outside)} }]\n` });
    const list = (trust: boolean) => spawnCommand(['list', '--no-guard', '--root', root], { trust });
    expect((await list(false)).stdout).not.toContain('far');
    expect((await list(true)).stdout).toContain('far');
  });
});

it('does not run code that an agent wrote, until a person approved it', async () => {
  const { root, digest } = waitingCode();
  expect(await versionsLoaded(root)).toEqual(['old']);
  const approve = ['extensions', 'approve', 'box', '--root', root, '--digest'];
  expect((await spawnCommand([...approve, `${digest.slice(0, -1)}x`])).status).not.toBe(0);
  expect(await versionsLoaded(root)).toEqual(['old']);
  expect(await spawnCommand([...approve, digest])).toMatchObject({ status: 0 });
  expect(await versionsLoaded(root)).toEqual(['new']);
});
