import { expect, it } from 'vitest';
import { bootRoot } from '../helpers/boot-root.ts';
import { embeddingsServer } from '../helpers/embeddings-server.ts';
import { skill, TOWN } from '../helpers/semantic-registry.ts';
import { waitFor } from '../helpers/wait-for.ts';

it('embeds the catalog beside the running kernel and shows a turn the skill its prompt means', async () => {
  const server = await embeddingsServer();
  const trades = Object.assign(
    {},
    ...Array.from({ length: 40 }, (_, n) => skill(`a-trade-${n}`, `Trade number ${n}.`)),
  );
  const { kernel } = await bootRoot(
    { ...trades, ...TOWN },
    {
      catalog: { budget_tokens: 120 },
      embeddings: { base_url: server.baseUrl, model: 'words-1', timeout_ms: 1500 },
    },
  );
  const shown = async (prompt: string): Promise<string> =>
    (await kernel.describeTurn('orchestrator_agent', prompt, {})).map(({ text }) => text).join('\n');
  await waitFor('the garage', async () => (await shown('Please mend my car')).includes('`garage`'));
  // The key of the model stays with the model.
  expect(server.requests[0]?.headers.authorization).toBeUndefined();
  server.behave(() => 'hang up');
  expect(await shown('Read a barometer')).toContain('`weather`');
  expect(kernel.problems().map(({ code }) => code)).not.toContain('CONTEXT_PROVIDER_TIMEOUT');
});
