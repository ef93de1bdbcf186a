import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { runCommand } from '../../helpers/run-command.ts';
import { type ScriptedAnswer, scriptedModel, systemText } from '../../helpers/scripted-model.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

const TEA = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea.' }, 'Boil water.') };
const REFUSED: ScriptedAnswer = { status: 400, body: '{"error":{"message":"no such model"}}' };

/** What was recorded after these lines at the prompt. */
async function startWith(input: string, environment: Readonly<Record<string, string>>, config = '') {
  const root = tempFolder({ ...TEA, 'data/skill_registry/config.yaml': config });
  const { status, stdout } = await runCommand(['start', '--root', root, '--trust'], { input, environment });
  const stats = await runCommand(['stats', '--root', root, '--trust', '--json']);
  return { status, stdout, totals: JSON.parse(stats.stdout).totals };
}

it('counts no load for a skill that is applied without a model', async () => {
  const { stdout, totals } = await startWith('/skills:tea now\n', {});
  expect(stdout).toContain('MODEL_NOT_CONFIGURED');
  expect(totals).toMatchObject({ loads: 0, tokens: 0 });
});

it('counts no load for an applied skill when the model refuses the turn, and one when it answers', async () => {
  const model = await scriptedModel([REFUSED, { text: 'Done.' }]);
  const { totals } = await startWith('/skills:tea\n/skills:tea\n', model.environment);
  expect(model.requests).toHaveLength(2);
  expect(totals).toMatchObject({ loads: 1 });
});

it('keeps the instructions in the system text after a turn that failed, because the conversation does not have them', async () => {
  const model = await scriptedModel([REFUSED, { text: 'Done.' }, { text: 'Done.' }, { text: 'Done.' }]);
  const bodies = 'inject: bodies\n';
  await startWith('/skills:tea\nhello\n/new\n/skills:tea\nhello\n', model.environment, bodies);
  const has = model.requests.map((request) => systemText(request).includes('Boil water.'));
  // The message of a turn that is answered has them, so that the turns after it need them in no other place.
  expect(has).toEqual([false, true, false, false]);
});

it('names the command that was meant, and ends with 1 when a line of a pipe failed, but not else', async () => {
  const typed = await startWith('/skils:tea\n/contxt hello\n', {});
  expect(typed).toMatchObject({ status: 1 });
  expect(typed.stdout).toContain('No command /skils:tea. Did you mean /skills:tea?');
  expect(typed.stdout).toContain('No command /contxt. Did you mean /context?');
  expect((await startWith('/context hello\n/quit\n', {})).status).toBe(0);
});

it('says that nothing answers where the server of the model does not run', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  const endpoint = `http://127.0.0.1:${port}/v1`;
  const { status, stdout } = await startWith('hello\n', { MODEL_BASE_URL: endpoint, MODEL_NAME: 'x' });
  expect(stdout).toContain(`Nothing answers at ${endpoint}. Start the model's server, or correct MODEL_BASE_URL.`);
  expect(status).toBe(1);
});
