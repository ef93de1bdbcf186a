import type { SkillRegistry } from 'skill-registry';
import { expect, it } from 'vitest';
import { servedSkill } from '../../helpers/mcp-server.ts';
import { openRoot } from '../../helpers/open-registry.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

/** A server of an old SDK: it ends at anything before `initialize`. */
const OLD_SERVER = `
  import { createInterface } from 'node:readline';
  const { entry, text } = JSON.parse(process.argv[2]);
  const capabilities = { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } };
  const answers = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities, serverInfo: { name: 'old', version: '1' } }),
    'skills/list': () => ({ skills: [entry] }),
    'resources/read': ({ uri }) => ({ contents: [{ uri, text }] }),
  };
  let isGreeted = false;
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line);
    isGreeted ||= method === 'initialize';
    if (!isGreeted) process.exit(1);
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }));
  }`;

const namesOf = ({ snapshot }: SkillRegistry): readonly string[] =>
  snapshot().skills.map(({ qualifiedId }) => qualifiedId);

it('takes the skills of a program that knows an older protocol alone', async () => {
  const { entry, files } = servedSkill('tea');
  const text = files.get(entry.uri);
  const root = tempFolder({ 'old.mjs': OLD_SERVER });
  const command = [process.execPath, 'old.mjs', JSON.stringify({ entry, text })];
  const registry = await openRoot(root, { config: { sources: [{ id: 'old', mcp: { command } }] } });
  await waitFor('the first list', () => namesOf(registry).length > 0);
  expect([registry.problems(), namesOf(registry)]).toEqual([[], ['old:tea']]);
  expect((await registry.read('tea')).content).toBe('Body of tea.');
});
