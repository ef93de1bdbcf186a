import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EXCHANGE_FILE, keepBusy } from '../helpers/busy-process.ts';
import { attack } from '../helpers/held.ts';
import { stdioClient } from '../helpers/mcp.ts';
import { openRoot } from '../helpers/open-registry.ts';
import { runRegistryTool } from '../helpers/run-registry-tool.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

/** CAMPAIGN_SECONDS: so long for each reader. */
const SECONDS = Number(process.env.CAMPAIGN_SECONDS ?? 4);
const TIMEOUT = { timeout: (SECONDS + 60) * 1000 };

const SKILL = { name: 'tea', description: 'Brews tea.' };
const TREE = {
  'good.md': skillMd(SKILL, 'Good body.'),
  'held.md': skillMd(SKILL, `MARKED body.\n\n${attack(23)}`),
  'skills/tea/SKILL.md': skillMd(SKILL, 'Good body.'),
  'skills/tea/times.md': 'Three minutes.',
};

type Reader = () => Promise<unknown>;

/** Reads at full speed while another process exchanges SKILL.md. Every answer has the good text, or a refusal. */
async function readWhileExchanged(title: string, root: string, readers: readonly Reader[]): Promise<void> {
  const paths = ['skills/tea/SKILL.md', 'good.md', 'held.md', 'exchanges'].map((path) => join(root, path));
  const other = await keepBusy(EXCHANGE_FILE, paths);
  const count = { good: 0, held: 0, refused: 0 };
  const until = performance.now() + SECONDS * 1000;
  for (let reads = 0; performance.now() < until; reads++) {
    const answer = await readers[reads % readers.length]?.().then(
      (given) => JSON.stringify(given),
      (error) => String(error.message),
    );
    if (/MARKED|203\.0\.113/.test(answer ?? '')) count.held++;
    else if (answer?.includes('Good body.')) count.good++;
    else count.refused++;
  }
  await other.stop();
  const exchanges = Number(readFileSync(join(root, 'exchanges'), 'utf8'));
  process.stdout.write(
    `${title}, ${SECONDS} s, ${exchanges} exchanges: ${count.good} good texts, ${count.refused} refusals, ${count.held} held texts given\n`,
  );
  expect(count.held).toBe(0);
  expect(count.good).toBeGreaterThan(0);
  expect(exchanges).toBeGreaterThan(10);
}

it('gives no held text to a reader at full speed while SKILL.md is exchanged', TIMEOUT, async () => {
  const root = tempFolder(TREE);
  const registry = await openRoot(root);
  const tool = (args: object): Reader => {
    return () => runRegistryTool(registry, 'read_skill', { skill_id: 'tea', ...args });
  };
  await readWhileExchanged('read_skill', root, [tool({}), tool({ view: 'raw' })]);
});

it('gives no held text in prompts, of a binding, or as bytes, while SKILL.md is exchanged', TIMEOUT, async () => {
  const root = tempFolder(TREE);
  const registry = await openRoot(root, { config: { sources: [{ path: 'skills' }], inject: 'bodies' } });
  const bytes = async () => Buffer.from(await registry.admin.readBytes('tea', {}, {})).toString('utf8');
  const bound = () => registry.read('tea', { audience: 'binding' });
  const readers = [bytes, bound, () => registry.context('Brew tea.'), () => registry.apply('tea', '', {})];
  await readWhileExchanged('bytes, binding, context and apply', root, readers);
});

it('gives no held text to an MCP client of another process while SKILL.md is exchanged', TIMEOUT, async () => {
  const root = tempFolder(TREE);
  const { client } = await stdioClient(['--root', root, '--trust']);
  const readers = [
    () => client.callTool({ name: 'read_skill', arguments: { skill_id: 'tea' } }),
    () => client.callTool({ name: 'read_skill', arguments: { skill_id: 'tea', view: 'raw' } }),
    () => client.readResource({ uri: 'skill://tea/SKILL.md' }, { cacheMode: 'refresh' }),
    () => client.getPrompt({ name: 'tea' }),
  ];
  await readWhileExchanged('mcp on stdio', root, readers);
});
