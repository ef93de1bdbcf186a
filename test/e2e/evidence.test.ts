import { boot } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { type ScriptedAnswer, scriptedModel, toolResults } from '../helpers/scripted-model.ts';
import { TEA_SUITE } from '../helpers/suites.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

it('hands the reviewer what the registry ran beside what the author claims, and shows a person both', async () => {
  let id = '';
  const content = skillMd({ name: 'tea', description: 'Grinds coffee beans. Coffee beans!' });
  const proposed = { skill_id: 'tea', content, justification: 'It was weak.', evidence: 'All 40 tests pass.' };
  const script = (index: number): ScriptedAnswer =>
    [
      { call: 'propose_skill_update', args: proposed },
      { text: 'Proposed.' },
      { call: 'read_proposal', args: { proposal_id: id } },
    ][index] ?? { text: 'Seen.' };
  const model = await scriptedModel((_request, index) => script(index));
  const root = tempFolder(TEA_SUITE);
  const skill_registry = { sources: [{ path: 'skills' }] };
  const kernel = await boot({ root, environment: model.environment, config: { skill_registry } });
  onTestFinished(() => kernel.shutdown());
  await kernel.invokeAgent('orchestrator_agent', 'The tea was weak.');
  const print = async (line: string): Promise<string> => {
    const result = await kernel.runCommand(line, { userId: 'ada' });
    return result.kind === 'print' ? result.text : result.kind;
  };
  id = /^(tea-\S+)/m.exec(await print('/proposals'))?.[1] ?? '';

  await kernel.invokeAgent('skill_reviewer', 'Review it.');
  const [read] = toolResults(model.requests[3]);
  expect(read).toMatchObject({
    ...{ success: true, skill_id: 'tea', evidence: 'All 40 tests pass.' },
    ran: {
      before: { checks: { passed: 3, failed: 0, not_run: 0 }, triggers: { precision: 1, recall: 1 } },
      after: { checks: { passed: 1, failed: 2, not_run: 0 }, triggers: { precision: 0, recall: 0 } },
      not_run: null,
      changed_queries: [
        { query: 'brew green tea' },
        { query: 'grind coffee beans', should_trigger: false, after: 'tea' },
      ],
      changed_queries_total: 2,
    },
  });
  const tool = model.requests[2]?.tools?.find(({ function: { name } }) => name === 'read_proposal');
  expect(tool?.function.description).toContain('what the registry itself ran');

  const shown = await print(`/proposals show ${id}`);
  expect(shown).toContain('Evidence, as its author claims\n  All 40 tests pass.');
  expect(shown).toContain('  checks    3 passed, 0 failed, 0 not run -> 1 passed, 2 failed, 0 not run');
});
