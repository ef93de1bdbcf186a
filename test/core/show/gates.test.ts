import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { InternalOptions } from '../../../extensions/skill_registry/core/options.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { type Tree, tempFolder } from '../../helpers/temp-folder.ts';

const ELSEWHERE = process.platform === 'linux' ? 'darwin' : 'linux';
const gated = (metadata: string): Tree => ({
  'skills/gated/SKILL.md': `---\nname: gated\ndescription: Does it.\nmetadata: ${metadata}\n---\n\nBody.\n`,
  'skills/gated/notes.md': 'Notes.',
  'bin/brew': { content: '#!/bin/sh\n', mode: 0o755 },
  'bin/plain': 'no program',
  'bin/folder/x': '',
});

const opened = (options: InternalOptions): Promise<SkillRegistry> => createSkillRegistry(options);

async function open(metadata: string, config: Readonly<Record<string, unknown>> = {}) {
  const root = tempFolder(gated(metadata));
  const registry = await opened({
    root,
    config: { sources: [{ path: 'skills' }], ...config },
    environment: { PATH: `${root}/none:${root}/bin`, TOKEN: 'x', EMPTY: '' },
  });
  onTestFinished(() => registry.close());
  return registry;
}

const CONFIG = { gates: { settings: { channels: { chat: { on: true, off: false } } } } };

describe('a gate', () => {
  it.each([
    ['this system', `{ openclaw: { os: [${process.platform}, ${ELSEWHERE}] } }`],
    ['this system as a text', `{ openclaw: { os: ${process.platform} } }`],
    ['a program', '{ openclaw: { requires: { bins: [brew] } } }'],
    ['one of some programs', '{ openclaw: { requires: { anyBins: [none, brew] } } }'],
    ['a variable', '{ openclaw: { requires: { env: [TOKEN] } } }'],
    ['a setting', '{ openclaw: { requires: { config: [channels.chat.on] } } }'],
    ['nothing', '{ openclaw: { requires: {} } }'],
    ['a name of its own', '{ someone: { requires: { bins: [none] } } }'],
    ['a program, and lifts it', '{ openclaw: { always: true, requires: { bins: [none] } } }'],
  ])('is open: it asks for %s', async (_, metadata) => {
    const registry = await open(metadata, CONFIG);
    expect(registry.problems()).toEqual([]);
    expect(registry.list().total).toBe(1);
    expect(await runRegistryTool(registry, 'read_skill', { skill_id: 'gated' })).toMatchObject({ success: true });
  });

  it.each([
    ['another system', `{ openclaw: { os: [${ELSEWHERE}] } }`, `it is for ${ELSEWHERE}`],
    ['another system, always', `{ openclaw: { os: [${ELSEWHERE}], always: true } }`, 'it is for'],
    ['a program that is not there', '{ openclaw: { requires: { bins: [brew, none] } } }', 'the program none'],
    ['a file that is no program', '{ openclaw: { requires: { bins: [plain] } } }', 'the program plain'],
    ['a folder', '{ openclaw: { requires: { bins: [folder] } } }', 'the program folder'],
    ['a path', '{ openclaw: { requires: { bins: [../bin/brew] } } }', 'the program ../bin/brew'],
    [
      'one of programs that are not there',
      '{ openclaw: { requires: { anyBins: [a, b] } } }',
      'one of the programs a, b',
    ],
    ['a variable that is not set', '{ openclaw: { requires: { env: [HOME_] } } }', 'the environment variable HOME_'],
    ['a variable that is empty', '{ openclaw: { requires: { env: [EMPTY] } } }', 'EMPTY'],
    ['a variable that every object has', '{ openclaw: { requires: { env: [constructor] } } }', 'constructor'],
    ['a setting that is false', '{ openclaw: { requires: { config: [channels.chat.off] } } }', 'channels.chat.off'],
    ['a setting that every object has', '{ openclaw: { requires: { config: [__proto__.x] } } }', '__proto__.x'],
    ['two things', '{ openclaw: { requires: { bins: [a], env: [B] } } }', 'the program a, and the environment'],
    ['a program, by its older name', '{ clawdbot: { requires: { bins: [none] } } }', 'none'],
    ['a program, in a JSON text', `{ openclaw: '{"requires":{"bins":["none"]}}' }`, 'none'],
    ['a program, in a text with loose keys', `{ openclaw: "{requires: {bins: ['none',],},}" }`, 'none'],
    ['a program, in needs written as a text', `{ openclaw: { requires: '{"bins": ["none"]}' } }`, 'none'],
    ['a program, in metadata written as a text', `'{"openclaw": {\t"requires": {"bins": ["none"],}}}'`, 'none'],
    ['a program, in metadata with loose keys', `'{clawdbot: {requires: {bins: [none]}}}'`, 'none'],
    ['a program, in JSON throughout', '{"openclaw":{"requires":{"bins":["none"]}}}', 'none'],
  ])('is closed: it asks for %s', async (_, metadata, reason) => {
    const registry = await open(metadata, CONFIG);
    expect(registry.problems()).toMatchObject([{ code: 'SKILL_HIDDEN', severity: 'warning' }]);
    expect(registry.problems()[0]?.message).toContain(reason);
    expect(registry.list().total).toBe(0);
    expect(await registry.context('gated')).toBeNull();
    for (const [tool, args] of [
      ['read_skill', { skill_id: 'gated' }],
      ['read_skill_resource', { skill_id: 'gated', path: 'notes.md' }],
    ] as const) {
      expect(await runRegistryTool(registry, tool, args)).toMatchObject({ error: { code: 'SKILL_NOT_FOUND' } });
    }
    expect((await registry.read('gated')).content).toBe('Body.');
    expect((await registry.readResource('gated', 'notes.md')).content).toBe('Notes.');
  });

  it.each([
    ['a list for a block', '{ openclaw: [1, 2] }', 'openclaw" should be a mapping, got [1,2];'],
    ['a text that cannot be read', '{ openclaw: "{requires" }', 'openclaw" should be a mapping, got "{requires";'],
    ['a text that is none', '{ openclaw: brew }', 'openclaw" should be a mapping, got "brew";'],
    ['a text nested too deeply', `{ openclaw: "{a: ${'['.repeat(1000)}" }`, 'should be a mapping, got "{a: [[['],
    ['metadata that cannot be read', '"{openclaw: {"', 'metadata" should be a mapping, got "{openclaw: {";'],
    ['a key that swallowed its value', `{ openclaw: '{os:"none"}' }`, 'Put a space after its colon.'],
    ['odd things in a list', '{ openclaw: { requires: { bins: [1, null, { a: b }] } } }', 'got [1,null,{"a":"b"}];'],
    [
      'a number in a list',
      '{ openclaw: { requires: { bins: [1] } } }',
      'requires.bins" should be a list of texts, got [1];',
    ],
    ['a mapping for a list', '{ openclaw: { requires: { bins: { nope: true } } } }', 'bins" should be a list of texts'],
    [
      'a mapping for a system',
      '{ openclaw: { os: { darwin: true } } }',
      'os" should be a list of texts, got {"darwin":true};',
    ],
    ['a list of needs', "{ openclaw: { requires: ['nope'] } }", 'requires" should be a mapping, got ["nope"];'],
  ])('says what cannot be read and does without: %s', async (_, metadata, message) => {
    const registry = await open(metadata, CONFIG);
    expect(registry.problems()).toMatchObject([
      { code: 'FIELD_INVALID', severity: 'warning', line: 4, details: { field: 'metadata' } },
    ]);
    expect(registry.problems()[0]?.message).toContain(message);
    expect(registry.list().total).toBe(1);
  });

  it('counts with what can be read beside what cannot', async () => {
    const registry = await open('{ openclaw: { requires: { bins: [1, none], env: { A: b } } } }');
    expect(registry.problems().map(({ code }) => code)).toEqual(['FIELD_INVALID', 'FIELD_INVALID', 'SKILL_HIDDEN']);
    expect(registry.problems()[0]?.message).toContain('only its texts were used');
    expect(registry.list().total).toBe(0);
  });

  it('is not looked at where the owner says so', async () => {
    const registry = await open('{ openclaw: { requires: { bins: [none] } } }', { gates: { check: false } });
    expect([registry.problems(), registry.list().total]).toEqual([[], 1]);
  });

  it('opens when what it asks for has come', async () => {
    const root = tempFolder(gated('{ openclaw: { requires: { env: [LATE] } } }'));
    const environment: Record<string, string> = {};
    const registry = await opened({ root, config: { sources: [{ path: 'skills' }] }, environment });
    onTestFinished(() => registry.close());
    const told: (readonly string[])[] = [];
    registry.onChange((ids) => told.push(ids));
    expect(registry.list().total).toBe(0);
    environment.LATE = 'now';
    await registry.refresh();
    expect([registry.list().total, registry.problems(), told]).toEqual([1, [], [['gated']]]);
  });

  it('also closes for a skill of a pack that lost its id there', async () => {
    const text = (body: string, metadata = '{}'): string =>
      `---\nname: twin\ndescription: Does it.\nmetadata: ${metadata}\n---\n\n${body}\n`;
    const root = tempFolder({
      'pack.json': JSON.stringify({ id: 'p', skills: ['./a', './b'] }),
      'a/twin/SKILL.md': text('First.', '{ openclaw: { requires: { bins: [none] } } }'),
      'b/twin/SKILL.md': text('Second.'),
    });
    const registry = await opened({ root, config: { sources: [{ pack: 'pack.json' }] }, environment: {} });
    onTestFinished(() => registry.close());
    expect(await registry.read('twin', {}, {})).toMatchObject({ content: 'Second.' });
    await expect(registry.read('pack:a/twin', {}, {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
    expect(await registry.read('pack:a/twin')).toMatchObject({ content: 'First.' });
  });
});
