import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createSkillRegistry } from 'skill-registry';
import { expect, it } from 'vitest';
import { type RunOptions, type RunResult, runCommand, startOnTerminal } from '../../../../helpers/run-command.ts';
import { LONGER, TEA } from '../../../../helpers/tea.ts';
import { tempFolder } from '../../../../helpers/temp-folder.ts';
import { waitFor } from '../../../../helpers/wait-for.ts';

/** A root with a proposal, the command in it, and an editor: a script that is handed a file. */
async function proposed(script = 'exit 0') {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA, 'editor.sh': `#!/bin/sh\n${script}\n`, 'tmp/.keep': '' });
  const editor = join(root, 'editor.sh');
  chmodSync(editor, 0o755);
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  const given = { skillId: 'tea', content: LONGER, justification: 'It was weak.', author: 'agent:brewer' };
  const { proposalId: id, file } = await registry.proposals.propose(given);
  await registry.close();
  const environment = { USER: 'ada', VISUAL: '', EDITOR: editor, TMPDIR: join(root, 'tmp') };
  const run = (args: readonly string[], options: RunOptions = {}): Promise<RunResult> =>
    runCommand(['proposals', ...args, '--root', root], {
      cwd: root,
      ...options,
      environment: { ...environment, ...options.environment },
    });
  const textOf = async (): Promise<string> => (await run(['show', id, '--proposed'])).stdout;
  return {
    root,
    id,
    report: file,
    run,
    textOf,
    environment,
    tea: () => readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8'),
  };
}

/** The file that an error names. */
const keptIn = (stderr: string): string => / in (\/\S+?\.md)[;.]/.exec(stderr)?.[1] ?? '';

it('opens the proposed text in the editor, in a file of this user alone, and takes what is saved', async () => {
  const { root, id, run, textOf, tea } = await proposed(
    'stat -c "%a %n" "$1" "$(dirname "$1")" > "$(dirname "$0")/seen"; sed -i s/three/seven/ "$1"',
  );
  expect(await run(['edit', id.slice(-6)])).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(new RegExp(`^Edited ${id}; read it with`)),
  });
  const [file = '', folder = ''] = readFileSync(join(root, 'seen'), 'utf8').split('\n');
  expect([file, folder]).toEqual([expect.stringMatching(/^600 .*\.md$/), expect.stringMatching(/^700 /)]);
  expect(existsSync(folder.slice(4))).toBe(false);
  expect(await textOf()).toBe(TEA.replace('two', 'seven'));
  const shown = JSON.parse((await run(['show', id, '--json'])).stdout);
  expect(shown).toMatchObject({
    state: 'open',
    author: 'agent:brewer',
    diff: expect.stringContaining('+Steep for seven'),
  });
  await run(['approve', id]);
  expect(tea()).toBe(TEA.replace('two', 'seven'));
});

it('prefers $VISUAL, with its arguments, and takes a file that the editor has put in the place of the first', async () => {
  const { root, id, run, textOf } = await proposed();
  const script = '[ "$1" = --wait ] && sed s/three/nine/ "$2" > "$2.new" && mv "$2.new" "$2"';
  writeFileSync(join(root, 'visual.sh'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  await run(['edit', id], { environment: { VISUAL: `${join(root, 'visual.sh')} --wait`, EDITOR: 'false' } });
  expect(await textOf()).toBe(TEA.replace('two', 'nine'));
});

it('takes the text from a file or from standard input, and prints what it has done as JSON', async () => {
  const { root, id, run, textOf } = await proposed();
  writeFileSync(join(root, 'mine.md'), TEA.replace('two', 'four'));
  const { stdout } = await run(['edit', id, '--from', 'mine.md', '--json']);
  expect(JSON.parse(stdout)).toEqual({
    proposal_id: id,
    skill_id: 'tea',
    state: 'open',
    changed: true,
    version: expect.stringMatching(/^sha256:/),
  });
  expect(await textOf()).toBe(TEA.replace('two', 'four'));
  expect(await run(['edit', id, '--from', '-'], { input: LONGER })).toMatchObject({ status: 0 });
  expect(await textOf()).toBe(LONGER);
});

it('does nothing where nothing is changed, and says so', async () => {
  const { root, id, run } = await proposed();
  expect(await run(['edit', id])).toMatchObject({ status: 0, stderr: `Nothing changed in ${id}\n` });
  const { stdout, status } = await run(['edit', id, '--from', '-', '--json'], { input: LONGER });
  expect([status, JSON.parse(stdout).changed]).toEqual([0, false]);
  expect(readdirSync(join(root, 'tmp'))).toEqual(['.keep']);
});

it('keeps a text that cannot be taken, says where and what to mend, and takes it once it is mended', async () => {
  const { id, run, textOf } = await proposed('sed -i "s/^name: tea/name: tea\\nname: tea/; s/three/five/" "$1"');
  const { status, stderr } = await run(['edit', id]);
  const kept = keptIn(stderr);
  expect([status, stderr]).toEqual([1, expect.stringMatching(/SKILL_INVALID: .*\n- .*unique/)]);
  expect(stderr).toContain(`skill-registry proposals edit ${id} --from ${kept}`);
  expect([statSync(kept).mode & 0o777, statSync(dirname(kept)).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(await textOf()).toBe(LONGER);
  writeFileSync(kept, readFileSync(kept, 'utf8').replace('name: tea\n', ''));
  expect(await run(['edit', id, '--from', kept])).toMatchObject({ status: 0 });
  expect(await textOf()).toBe(TEA.replace('two', 'five'));
  const piped = await run(['edit', id, '--from', '-'], { input: TEA.replace('name: tea\n', 'name: tea\nname: tea\n') });
  expect(readFileSync(keptIn(piped.stderr), 'utf8')).toContain('name: tea\nname: tea\n');
});

it('changes nothing when the editor fails, cannot be started, or there is none', async () => {
  const { root, id, run, textOf } = await proposed('echo "Half done." >> "$1"; exit 3');
  const failed = await run(['edit', id]);
  expect(failed).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/status 3\. Nothing changed\..*--from FILE/),
  });
  expect(readFileSync(keptIn(failed.stderr), 'utf8')).toContain('Half done.');
  const left = readdirSync(join(root, 'tmp'));
  const cannot = await run(['edit', id], { environment: { EDITOR: '/nowhere/editor' } });
  expect(cannot).toMatchObject({ status: 2, stderr: expect.stringContaining('status 127. Nothing changed. Or give') });
  const none = await run(['edit', id], { environment: { EDITOR: '' } });
  expect(none).toMatchObject({ status: 2, stderr: expect.stringContaining('--from FILE') });
  const nowhere = await run(['edit', id, '--from', 'nowhere.md']);
  expect(nowhere).toMatchObject({ status: 2, stderr: expect.stringContaining('--from nowhere.md cannot be read') });
  expect(readdirSync(join(root, 'tmp'))).toEqual(left);
  expect(await textOf()).toBe(LONGER);
});

it('opens both texts of a stale one, refuses marks that are left in, and applies what a person has chosen', async () => {
  const { root, id, run, tea } = await proposed('grep -q "^<<<<<<< current$" "$1" && echo Done. >> "$1"');
  writeFileSync(join(root, 'skills/tea/SKILL.md'), TEA.replace('two', 'ten'));
  const stale = await run(['approve', id]);
  expect(stale).toMatchObject({ status: 1, stderr: expect.stringContaining(`skill-registry proposals edit ${id}`) });
  const marked = await run(['edit', id]);
  expect(marked).toMatchObject({ status: 1, stderr: expect.stringContaining('PROPOSAL_CONFLICT: Line 10 is still') });
  const kept = keptIn(marked.stderr);
  const solved = readFileSync(kept, 'utf8').replace(/<<<<<<<[\s\S]*>>>>>>> proposed/, 'Steep for eleven minutes.');
  writeFileSync(kept, solved);
  expect(await run(['edit', id, '--from', kept])).toMatchObject({ status: 0 });
  expect(await run(['approve', id])).toMatchObject({ status: 0 });
  expect(tea()).toBe(`${TEA.replace('two', 'eleven')}Done.\n`);
});

it('makes a text that comes from a file against what was seen before, and undoes nothing that was written since', async () => {
  const { root, id, run, tea } = await proposed();
  const write = (text: string): void => writeFileSync(join(root, 'skills/tea/SKILL.md'), text);
  write(TEA.replace('two', 'ten'));
  await run(['approve', id]);
  const { stdout } = await run(['show', id, '--proposed']);
  const later = TEA.replace('two', 'twelve');
  write(later);
  const solved = stdout.replace(/<<<<<<<[\s\S]*>>>>>>> proposed/, 'Steep for eleven minutes.');
  expect(await run(['edit', id, '--from', '-'], { input: solved })).toMatchObject({ status: 0 });
  expect(await run(['approve', id])).toMatchObject({ status: 1, stderr: expect.stringContaining('PROPOSAL_STALE') });
  expect(tea()).toBe(later);
  expect((await run(['show', id, '--proposed'])).stdout).toMatch(/twelve[\s\S]*=======\nSteep for eleven/);
});

it('helps whoever has edited the report: the advice in the message does what it says', async () => {
  const { root, id, report, run, tea } = await proposed();
  writeFileSync(report, readFileSync(report, 'utf8').replace('+Steep for three', '+Steep for six'));
  const { status, stderr } = await run(['approve', id]);
  expect([status, tea()]).toEqual([1, TEA]);
  expect(stderr).toContain('PROPOSAL_FILE_EDITED');
  const [, first = '', second = ''] =
    /\(`skill-registry (.*?) > FILE`\).*`skill-registry (.*?) FILE`/.exec(stderr) ?? [];
  const { stdout } = await run(first.split(' ').slice(1));
  writeFileSync(join(root, 'FILE'), stdout.replace('three', 'six'));
  expect(await run([...second.split(' ').slice(1), 'FILE'])).toMatchObject({ status: 0 });
  expect(await run(['approve', id])).toMatchObject({ status: 0 });
  expect(tea()).toBe(TEA.replace('two', 'six'));
});

it('lets no agent edit, by whatever name it calls itself', async () => {
  const { id, run, textOf } = await proposed();
  const { status, stderr } = await run(['edit', id, '--from', '-', '--by', 'agent:brewer'], { input: TEA });
  expect([status, stderr]).toEqual([2, expect.stringContaining('INVALID_ARGUMENT: Only a person decides')]);
  expect(await textOf()).toBe(LONGER);
});

it('gives the editor the terminal', async () => {
  const { root, id, environment } = await proposed('[ -t 0 ] && [ -t 1 ] && sed -i s/three/eight/ "$1"');
  const running = startOnTerminal(['proposals', 'edit', id, '--root', root], { cwd: root, environment });
  expect(await running.exited).toBe(0);
  expect(running.stdout()).toContain(`Edited ${id}`);
});

it('says how to bring two edits together when somebody else was faster, in words that can be followed', async () => {
  const { root, id, run, textOf } = await proposed(
    'cd "$(dirname "$0")"; if [ ! -e first ]; then touch first; cp "$1" other.md; sed -i s/three/seven/ other.md; touch wait; while [ ! -e go ]; do sleep 0.02; done; fi; sed -i s/Rinse/Scrub/ "$1"',
  );
  const slow = run(['edit', id]);
  await waitFor('the editor', () => existsSync(join(root, 'wait')));
  expect(await run(['edit', id, '--from', join(root, 'other.md')])).toMatchObject({ status: 0 });
  writeFileSync(join(root, 'go'), '');
  const { status, stderr } = await slow;
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/PROPOSAL_CHANGED[\s\S]*Somebody else has edited the proposal/),
  ]);
  expect(stderr).toContain(`skill-registry proposals show ${id} --proposed --root ${root}, bring both together`);
  expect(await textOf()).toContain('seven');
});

it('advises no correction where no other text would help', async () => {
  const { root, id, run } = await proposed();
  writeFileSync(join(root, 'my text.md'), TEA.replace('two', 'nine'));
  await run(['reject', id, '--yes', '--reason', 'No.']);
  const { stderr } = await run(['edit', id, '--from', 'my text.md']);
  expect(stderr).toMatch(/PROPOSAL_DECIDED[\s\S]*Your text is in [^\n]*my text\.md\.\n?$/);
});
