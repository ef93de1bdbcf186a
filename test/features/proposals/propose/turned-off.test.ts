import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runRegistryTool } from '../../../helpers/run-registry-tool.ts';
import { ADA, TEA, type TeaRegistry, teaRegistry } from '../../../helpers/tea.ts';

const LINE = 'disable-model-invocation: true\n';
const OFF = TEA.replace('---\n\n# Tea', `${LINE}---\n\n# Tea`);
const REMOVAL = { old_string: LINE, new_string: '' };

const ask = ({ registry }: TeaRegistry, args: object, agentId = 'brewer', turn = {}) =>
  runRegistryTool(
    registry,
    'propose_skill_update',
    { skill_id: 'tea', justification: 'Needed.', ...args },
    { agentId, ...turn },
  );

/** A skill that the agent `brewer` has turned off, with the approval of a person. */
async function turnedOff(content = OFF): Promise<TeaRegistry> {
  const opened = await teaRegistry();
  const { proposal_id: id } = await ask(opened, { content });
  await opened.registry.proposals.approve(String(id), ADA);
  expect(opened.tea()).toBe(content);
  return opened;
}

it('tells the agent whose patch sets disable-model-invocation what follows, and the person who decides', async () => {
  const opened = await teaRegistry();
  const { warning, proposal_id: id } = await ask(opened, { content: OFF });
  expect(warning).toContain('no model sees the skill any more, nor do you');
  expect(warning).toContain(`old_string ${JSON.stringify(LINE)} and an empty new_string`);
  const { checks } = await opened.registry.proposals.get(String(id));
  expect(checks).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      kind: 'visibility',
      text: expect.stringContaining('can then only propose to remove it'),
    }),
  );
  expect((await ask(opened, { content: TEA.replace('two', 'three') })).warning).toBeUndefined();
});

it('quotes nothing of the author in that warning', async () => {
  const opened = await teaRegistry();
  const line = LINE.replace('true', 'false # MARKED');
  writeFileSync(join(opened.root, 'skills/tea/SKILL.md'), OFF.replace(LINE, line));
  const { warning } = await ask(opened, { old_string: 'invocation: false', new_string: 'invocation: true' });
  expect(warning).toContain('the whole line with its end');
  expect(warning).not.toContain('MARKED');
});

it.each([
  ['the line', REMOVAL],
  ['the line without its end', { old_string: LINE.trimEnd(), new_string: '' }],
  ['a whole text', { content: TEA }],
  ['a diff', { diff: `@@\n description: Brews tea.\n-${LINE} ---\n` }],
])('lets the agent whose approved proposal has set the key propose its removal, as %s', async (_how, change) => {
  const opened = await turnedOff();
  expect(
    await runRegistryTool(opened.registry, 'read_skill', { skill_id: 'tea' }, { agentId: 'brewer' }),
  ).toMatchObject({
    error: { code: 'SKILL_NOT_FOUND' },
  });
  const asked = await ask(opened, change);
  expect(asked).toMatchObject({ success: true, state: 'open' });
  expect(Object.keys(asked).sort()).toEqual(['file', 'proposal_id', 'state', 'success']);
  expect(opened.tea()).toBe(OFF);
  await opened.registry.proposals.approve(String(asked.proposal_id), ADA);
  expect(opened.tea().replace('\n\n---', '\n---')).toBe(TEA);
  expect(
    await runRegistryTool(opened.registry, 'read_skill', { skill_id: 'tea' }, { agentId: 'brewer' }),
  ).toMatchObject({
    success: true,
  });
});

it.each([
  ['another agent', REMOVAL, 'stranger', {}],
  ['no agent', REMOVAL, 'brewer', { agentId: undefined }],
  ['the agent where the skill is out of its scope', REMOVAL, 'brewer', { boundSkills: ['milk'] }],
  ['the agent that changes more', { content: TEA.replace('two', 'three') }, 'brewer', {}],
  ['the agent that changes something else', { old_string: 'Serve.', new_string: 'Wait.' }, 'brewer', {}],
  ['the agent that says false', { old_string: LINE, new_string: LINE.replace('true', 'false') }, 'brewer', {}],
  ['the agent that guesses at a line', { old_string: 'Steep for nine minutes.', new_string: '' }, 'brewer', {}],
  ['the agent whose diff does not apply', { diff: '@@\n Boil\n-Steep for\n+Serve.\n' }, 'brewer', {}],
  ['the agent that writes another file', { path: 'notes.md', content: 'New.' }, 'brewer', {}],
])('answers %s as if the skill were not there, without a word of it', async (_who, change, agentId, turn) => {
  const opened = await turnedOff();
  const answer = await ask(opened, change, agentId, turn);
  const none = await ask(opened, { ...change, skill_id: 'tee' }, 'stranger');
  const message = (none.error as { message: string }).message.replaceAll('"tee"', '"tea"');
  expect(answer).toEqual({ success: false, error: { code: 'SKILL_NOT_FOUND', message } });
});

it('ends with the next change, whoever makes it, and does not begin with a key that somebody else has set', async () => {
  const edited = await turnedOff();
  writeFileSync(join(edited.root, 'skills/tea/SKILL.md'), OFF.replace('two', 'nine'));
  await edited.registry.refresh();
  expect(await ask(edited, REMOVAL)).toMatchObject({ error: { code: 'SKILL_NOT_FOUND' } });
  const file = await turnedOff();
  await file.registry.admin.management.write('tea', 'notes.md', 'By hand.\n', ADA);
  expect(await ask(file, REMOVAL)).toMatchObject({ error: { code: 'SKILL_NOT_FOUND' } });

  const opened = await teaRegistry();
  const { proposal_id: id } = await ask(opened, { content: TEA.replace('two', 'three') });
  await opened.registry.proposals.approve(String(id), ADA);
  await opened.registry.admin.management.write('tea', 'SKILL.md', OFF, ADA);
  expect(await ask(opened, REMOVAL)).toMatchObject({ error: { code: 'SKILL_NOT_FOUND' } });

  const own = await teaRegistry({ 'skills/tea/SKILL.md': OFF });
  const input = { skillId: 'tea', content: OFF.replace('two', 'three'), justification: 'x', author: 'agent:brewer' };
  const { proposalId } = await own.registry.proposals.propose(input);
  await own.registry.proposals.approve(proposalId, ADA);
  expect(await ask(own, REMOVAL)).toMatchObject({ error: { code: 'SKILL_NOT_FOUND' } });
});
