import { expect, test } from 'vitest';
import { runProgram } from '../helpers/run-command.ts';
import { scriptedModel } from '../helpers/scripted-model.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { agentExtension, extension } from '../kernel/boot/boot-extensions.ts';

const TOOLS = extension(
  'tools',
  '',
  `getTools() {
     const execute = () => new Promise(() => {});
     return [defineTool({ name: 'deaf', description: '', input: z.object({}), execute })];
   }`,
);

test('the time budget ends a turn that is all a program waits for', async () => {
  const model = await scriptedModel([{ call: 'deaf', args: {} }]);
  const agent = agentExtension('talker', 'uses_tools: [tools]\nlimits: { time_budget_ms: 1500 }');
  const program = `
    const environment = ${JSON.stringify(model.environment)};
    const kernel = await boot({ root: '.', environment, config: { skill_registry: { watch: { mode: 'off' } } } });
    console.log((await kernel.invokeAgent('talker', 'go')).stopped);
    await kernel.shutdown();`;
  const ended = await runProgram(program, { cwd: tempFolder({ ...TOOLS, ...agent }) });
  expect(ended).toEqual({ status: 0, stdout: 'time_budget\n', stderr: '' });
});
