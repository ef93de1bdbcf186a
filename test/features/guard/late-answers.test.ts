import { PassThrough } from 'node:stream';
import { createSkillMcpDoor } from 'skill-registry/mcp';
import { expect, it, onTestFinished } from 'vitest';
import { createPublication, type Publication } from '../../../extensions/skill_mcp/resources.ts';
import { resourcesPage } from '../../../extensions/skill_mcp/sdk-source.ts';
import { serveStreams } from '../../../extensions/skill_mcp/stdio.ts';
import { attack } from '../../helpers/held.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, writeTree } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const TREE = {
  'skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'Holds tea.' }),
  'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }),
};

// What is answered late shows no skill that has become held since it was asked for, or made.

it('names no skill in later instructions of a connection that is held by then', async () => {
  const { registry, root } = await openRegistry(TREE);
  const [input, output] = [new PassThrough(), new PassThrough()];
  let answers = '';
  output.on('data', (data) => {
    answers += String(data);
  });
  const served = serveStreams(createSkillMcpDoor(registry), new AbortController().signal, { input, output });
  onTestFinished(async () => {
    input.end();
    await served;
  });
  const clientInfo = { name: 'test', version: '1.0.0' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const begin = async (): Promise<string> => {
    answers = '';
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    await waitFor('the answer', () => answers.endsWith('\n'));
    return answers;
  };
  expect(await begin()).toContain('Brews tea.');
  writeTree(root, { 'skills/tea/more.md': attack(45) });
  await expect(registry.read('tea', {}, {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  const again = await begin();
  expect(again).toContain('Holds tea.');
  expect(again).not.toContain('Brews tea.');
});

it('shows no skill in a page of resources that became held while the page was made', async () => {
  const { registry, root } = await openRegistry(TREE);
  const publication = createPublication(registry, {}, 0);
  const holding: Publication = {
    ...publication,
    async *after(...given) {
      for await (const entry of publication.after(...given)) {
        yield entry;
        writeTree(root, { 'skills/cup/more.md': attack(46) });
        await registry.read('cup', {}, {}).catch(() => undefined);
      }
    },
  };
  const { resources } = await resourcesPage(holding, {}, undefined, 10, () => undefined);
  expect(resources.map(({ uri }) => uri)).toEqual(['skill://tea/SKILL.md']);
});
