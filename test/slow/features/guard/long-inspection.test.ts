import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { createSkillMcpDoor, serveHttp } from 'skill-registry/mcp';
import { expect, it, onTestFinished } from 'vitest';
import { attack } from '../../../helpers/held.ts';
import { callTool, httpClient } from '../../../helpers/mcp.ts';
import { runRegistryTool } from '../../../helpers/run-registry-tool.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const many: Tree = Object.assign(
  {},
  ...Array.from({ length: 20 }, (_, at) => ({
    [`skills/apple-${at}/SKILL.md`]: skillMd({ name: `apple-${at}`, description: 'Helps.' }, `Cut ${at}.`),
  })),
);
const MEGABYTE = 'Wait for the water to boil, run the script, and tell the user what you send. '.repeat(13_000);

/** A skill whose inspection costs far more than 200 ms. */
const long = (end: string): Tree => ({
  'skills/whale/SKILL.md': skillMd({ name: 'whale', description: 'Sings.' }, 'BODY of a whale.'),
  'skills/whale/references/song.md': 'FILE of a whale.',
  ...Object.fromEntries(
    Array.from({ length: 6 }, (_, at) => [`skills/whale/data/${at}.md`, `${end.replace(/\W/g, '')}${at} ${MEGABYTE}`]),
  ),
  'skills/whale/end.md': end,
});

async function opened(tree: Tree): Promise<SkillRegistry> {
  const root = tempFolder({ ...many, ...tree });
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  onTestFinished(() => registry.close());
  return registry;
}

const NOT_YET = {
  success: false,
  error: { code: 'SKILL_NOT_INSPECTED', message: expect.stringMatching(/Ask again in about \d+ s\.$/) },
};
const asked = (registry: SkillRegistry) => [
  runRegistryTool(registry, 'read_skill', { skill_id: 'whale' }),
  runRegistryTool(registry, 'read_skill_resource', { skill_id: 'whale', path: 'references/song.md' }),
  runRegistryTool(registry, 'read_skill_resource', { skill_id: 'whale', path: 'missing.md' }),
];

it('a skill that takes long to inspect is given to nobody at first, and to all who ask later', async () => {
  const registry = await opened(long('Clean.'));
  for (const answer of await Promise.all(asked(registry))) expect(answer).toMatchObject(NOT_YET);
  // Others are not kept waiting by it.
  expect(await runRegistryTool(registry, 'read_skill', { skill_id: 'apple-1' })).toMatchObject({ content: 'Cut 1.' });
  await waitFor('the body', async () => (await asked(registry)[0])?.success === true, 60_000);
  expect(await asked(registry)[1]).toMatchObject({ success: true, content: 'FILE of a whale.' });
  expect(registry.admin.notInspected()).toBe(19);
});

it('a person, a slash command, an agent that is bound and a program that says so wait for it', async () => {
  const asks: readonly ((registry: SkillRegistry) => Promise<unknown>)[] = [
    (registry) => registry.read('whale'),
    (registry) => registry.apply('whale', '', { threadId: 't' }),
    (registry) => registry.admin.boundText('whale', { agentId: 'a' }),
    (registry) => registry.read('whale', { wait: true }, {}),
    (registry) => registry.readResource('whale', 'references/song.md', {}, { wait: true }),
  ];
  for (const ask of asks) expect(JSON.stringify(await ask(await opened(long('Clean.'))))).toMatch(/BODY|FILE/);
}, 120_000);

it('what is found to be of an attack after the answer is given to nobody, and its line is gone', async () => {
  const registry = await opened(long(attack(80)));
  for (const answer of await Promise.all(asked(registry))) expect(answer).toMatchObject(NOT_YET);
  await waitFor('it to be held', () => registry.visible().every(({ id }) => id !== 'whale'), 60_000);
  for (const answer of await Promise.all(asked(registry)))
    expect(answer).toMatchObject({ success: false, error: { code: 'SKILL_NOT_FOUND' } });
});

it('a file that is written while a long inspection runs is judged itself', async () => {
  const registry = await opened(long('Clean at first.'));
  expect(await runRegistryTool(registry, 'read_skill', { skill_id: 'whale' })).toMatchObject(NOT_YET);
  writeTree(registry.snapshot().byId.get('whale')?.dir ?? '', { 'references/new.md': attack(81) });
  const read = registry.readResource('whale', 'references/new.md', {}, { wait: true });
  await expect(read).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
}, 60_000);

it('a client over MCP is told so by tools and resources, and has pages of what was inspected', async () => {
  const registry = await opened(long('Clean over MCP.'));
  const serving = await serveHttp(createSkillMcpDoor(registry, { pageSize: 15 }));
  onTestFinished(() => serving.close());
  const client = await httpClient(serving.url);
  expect((await callTool(client, 'read_skill', { skill_id: 'whale' })).result).toMatchObject(NOT_YET);
  await expect(client.readResource({ uri: 'skill://whale/SKILL.md' })).rejects.toThrow(
    /SKILL_NOT_INSPECTED.*Ask again/,
  );
  const page = async (cursor?: string) =>
    (await client.request({ method: 'resources/list', params: cursor ? { cursor } : {} } as never)) as unknown as {
      readonly resources: readonly { readonly name: string }[];
      readonly nextCursor?: string;
    };
  const first = await page();
  expect(first.resources).toHaveLength(15);
  // The skills of the next page, but for its first one, were read by nobody.
  expect(registry.admin.notInspected()).toBeGreaterThanOrEqual(4);
  const second = await page(first.nextCursor);
  expect(second.resources.map(({ name }) => name)).toContain('whale');
  expect(second).not.toHaveProperty('nextCursor');
  expect(JSON.stringify(await client.readResource({ uri: 'skill://whale/SKILL.md' }))).toContain('BODY');
}, 60_000);
