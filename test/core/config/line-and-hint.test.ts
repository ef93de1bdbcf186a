import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { InternalOptions } from '../../../extensions/skill_registry/core/options.ts';
import { createSkillRegistry } from '../../../extensions/skill_registry/registry.ts';
import { parseManifest } from '../../../kernel/boot/manifest.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

const CONFIG = 'data/skill_registry/config.yaml';

const WRONG = `# mine
injekt: off
catalog:
  format: bulets
  bugdet_tokens: 500
  pinned:
    - tea
    - 1
    - x: 1
writes: { update: alow }
sources:
  - path: skills
  - preset: calude
  - inline: { name: Tea, description: Tea. }
  - mcp: { command: x, evn: { KEY: secret-1 } }
  - path: a
    package: b
tools: [read_skill, read_skil]
embeddings:
  model: m
disabled: [[{ a: 1 }]]
qwertz: 1
`;

it('says of every wrong key of the config in which file and line it is, and what may be meant', async () => {
  const root = tempFolder({ [CONFIG]: WRONG });
  const { stdout } = await runCommand(['doctor', '--json', '--root', root]);
  const all: readonly { code: string; file: string; line?: number; message: string; details: { key: string } }[] =
    JSON.parse(stdout).problems;
  const problems = all.filter(({ code }) => code === 'CONFIG_KEY_INVALID');
  expect(new Set(problems.map(({ file }) => file))).toEqual(new Set([join(root, CONFIG)]));
  const hintOf = (message: string): string | undefined => /Did you mean "([^"]*)"/.exec(message)?.[1];
  expect(problems.map(({ details, line, message }) => [details.key, line, hintOf(message)]).sort()).toEqual(
    [
      ['injekt', 2, 'inject'],
      ['catalog.format', 4, 'bullets'],
      ['catalog.bugdet_tokens', 5, 'budget_tokens'],
      ['catalog.pinned.1', 8, undefined],
      ['catalog.pinned.2', 9, undefined],
      ['writes.update', 10, 'allow'],
      ['sources.1.preset', 13, 'claude'],
      ['sources.2.inline.0.instructions', 14, undefined],
      ['sources.3.mcp.evn', 15, 'env'],
      ['sources.4', 16, undefined],
      ['tools.1', 18, 'read_skill'],
      ['embeddings', 19, undefined],
      ['disabled.0', 21, undefined],
      ['qwertz', 22, undefined],
    ].sort(),
  );
  expect(stdout).not.toContain('secret-1');
  const { stdout: text } = await runCommand(['doctor', '--root', root]);
  expect(text).toContain(`${CONFIG}:4\n    Config "catalog.format" is "bulets": expected "bullets" or "xml"`);
});

it('says no line of a value that a program has given, though the file has the key', async () => {
  const root = tempFolder({ [CONFIG]: 'inject: bodies\n' });
  const given = await createSkillRegistry({ root, config: { inject: 'bodis' as 'bodies' } });
  const [problem] = given.problems();
  expect(problem).toMatchObject({ code: 'CONFIG_KEY_INVALID', file: join(root, CONFIG) });
  expect(problem).not.toHaveProperty('line');
});

it('names the manifest and its line where the config of the manifest is wrong', async () => {
  const root = tempFolder({
    [CONFIG]: 'inject: off\n',
    'manifest.yaml': 'id: x\nconfig:\n  inject: off\n  wacth: {}\n',
  });
  const options: InternalOptions = {
    root,
    manifest: join(root, 'manifest.yaml'),
    config: { inject: 'off', wacth: {} } as object,
  };
  expect((await createSkillRegistry(options)).problems()).toMatchObject([
    { file: options.manifest, line: 4, message: expect.stringContaining('Did you mean "watch"?') },
  ]);
});

describe('a manifest', () => {
  it.each([
    ['depend_on: [a]', 4, 'depends_on'],
    ['agent:\n  uses_skill: [a]', 5, 'uses_skills'],
    ['agent: { limits: { maxturns: 3 } }', 4, 'max_turns'],
    ['agent: { parameters: { temprature: 1 } }', 4, 'temperature'],
    ['events: { emit: [a] }', 4, 'emits'],
    ['agent:\n  integration_mode: handof', 5, 'handoff'],
  ])('with a misspelt word gets its line and what may be meant: %j', (text, line, meant) => {
    const { problems } = parseManifest(`id: x\nname: X\nversion: "1"\n${text}\nentrypoint: main:X\n`, 'm.yaml');
    expect(problems).toMatchObject([{ line, message: expect.stringContaining(`Did you mean "${meant}"?`) }]);
  });
});

it.each(['spec', 'lenient', 'strict'])(
  'validate says which field of the frontmatter may be meant: %s',
  async (profile) => {
    const fields = { name: 'tea', description: 'How to brew tea, and when.', licence: 'MIT', allowed_tools: 'Read' };
    const cwd = tempFolder({ 'tea/SKILL.md': skillMd(fields) });
    const { stderr } = await runCommand(['validate', 'tea', '--profile', profile], { cwd });
    expect(stderr).toContain('Did you mean "license"?');
    expect(stderr).toContain('Did you mean "allowed-tools"?');
    const { stdout } = await runCommand(['validate', 'tea', '--profile', profile, '--format', 'lines'], { cwd });
    expect(stdout).toMatch(/tea\/SKILL\.md:4: (?:warning|error): .*Did you mean "license"\?/);
    writeFileSync(
      join(cwd, 'tea/SKILL.md'),
      skillMd({ ...fields, licence: '', agent: 'x', hooks: 'x', allowed_tools: '' }),
    );
    const other = await runCommand(['validate', 'tea', '--profile', profile], { cwd });
    expect(other.stderr).not.toMatch(/"(?:agent|hooks)"\. Did you mean/);
  },
);
