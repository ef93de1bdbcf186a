import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as kernelExports from 'skill-registry/kernel';
import { boot, runTool } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { parseManifest } from '../../kernel/boot/manifest.ts';
import { packageRoot } from '../../kernel/host.ts';
import { countTokens, delimited } from '../../lib/text/index.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { NO_TERMINAL, SKILL, TEMPLATES } from './templates.ts';

const read = (...path: string[]): string => readFileSync(join(...path), 'utf8');
const skill = read(SKILL, 'SKILL.md');
const BOUND = 'skill-registry:extension-development';
const body = skill.slice(skill.indexOf('\n---\n') + 5).trim();
const contract = read(SKILL, 'references/contract.md');
const kernelSource = (file: string): string => read(packageRoot(), 'kernel', file);

/** What stands in backticks in the rows of all tables. */
function tableTerms(text: string): ReadonlySet<string> {
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  return new Set(rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, term]) => term as string)));
}

/** Members of the interfaces of a manifest, at any depth. */
function manifestFields(): readonly string[] {
  const source = kernelSource('boot/manifest.ts');
  const interfaces = source.slice(source.indexOf('export interface AgentManifest'), source.indexOf('const limits'));
  const fields = [...interfaces.matchAll(/readonly (\w+)\??:/g)].map(([, name]) => name as string);
  expect(fields).toContain('uses_skills');
  expect(fields).toContain('emits');
  return [...new Set(fields)];
}

function quotedCodes(source: string): readonly string[] {
  return [...source.matchAll(/'([A-Z]+(?:_[A-Z]+)+)'/g)].map(([, code]) => code as string);
}

function kernelFiles(): readonly string[] {
  const names = readdirSync(join(packageRoot(), 'kernel'), { recursive: true, encoding: 'utf8' });
  // What waits for a person is reported by whoever asks for it.
  return names.filter((name) => name.endsWith('.ts') && !name.startsWith('held/'));
}

it('the skill is found, within its budget, and described as the catalog wants it', async () => {
  expect(skill).toMatch(/^---\nname: extension-development\ndescription: "/);
  const description = /^description: "(.*)"$/m.exec(skill)?.[1] ?? '';
  expect(description.length).toBeGreaterThanOrEqual(80);
  expect(description.length).toBeLessThanOrEqual(300);
  expect(await countTokens(body)).toBeLessThan(3000);
});

it('every file the skill names exists, and every file it has is named', () => {
  const named = [skill, contract].flatMap((text) => text.match(/(?:templates|references)\/[\w./-]*\w/g) ?? []);
  for (const path of named) expect(existsSync(join(SKILL, path)), path).toBe(true);
  // A template is named by its folder.
  for (const kind of TEMPLATES) expect(named).toContain(`templates/${kind}`);
  for (const file of readdirSync(join(SKILL, 'references'))) expect(named).toContain(`references/${file}`);
  expect(readdirSync(SKILL).sort()).toEqual(['SKILL.md', 'references', 'templates']);
});

it('every template says what is to be changed', () => {
  for (const kind of TEMPLATES) {
    const files = readdirSync(join(SKILL, 'templates', kind)).sort();
    expect(files).toEqual(kind === 'agent' ? ['manifest.yaml', 'prompt.md'] : ['main.ts', 'manifest.yaml']);
    // A prompt goes to a model as it is.
    for (const file of files.filter((name) => name !== 'prompt.md'))
      expect(read(SKILL, 'templates', kind, file), `${kind}/${file}`).toContain('CHANGE');
  }
});

it('the tables hold every field a manifest may have', () => {
  const inSkill = tableTerms(skill);
  const inContract = [...tableTerms(contract)].map((term) => term.split('.').at(-1));
  for (const field of manifestFields()) {
    expect(inContract, field).toContain(field);
    expect(inSkill.has(field) || body.includes(`\`${field}\``), field).toBe(true);
  }
});

it('the example of the reference is a manifest with every field', () => {
  const example = /```yaml\n([\s\S]*?)```/.exec(contract)?.[1] ?? '';
  const { manifest, problems } = parseManifest(example, 'example');
  expect(problems).toEqual([]);
  expect(manifest?.agent?.limits.max_turns).toBe(10);
  for (const field of manifestFields()) expect(example).toMatch(new RegExp(`\\b${field}:`));
});

it('the reference names every interface and type of the contract', () => {
  const source = kernelSource('contract.ts');
  const names = [...source.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name as string);
  expect(names).toContain('Extension');
  for (const name of names) expect(contract, name).toMatch(new RegExp(`\\b${name}\\b`));
});

it('the reference explains every problem the kernel reports, and invents no code', () => {
  const thrown = quotedCodes(kernelSource('errors.ts'));
  const settings = /^MODEL_(BASE_URL|API_KEY|NAME)$/;
  const codes = kernelFiles().flatMap((file) => quotedCodes(kernelSource(file)));
  const reported = new Set(codes.filter((code) => !thrown.includes(code) && !settings.test(code)));
  expect(reported.size).toBeGreaterThan(20);
  for (const code of reported) expect(contract, code).toContain(`\`${code}\``);

  const known = new Set([...codes, ...Object.keys(kernelExports), 'SKILL_NOT_FOUND']);
  const named = [skill, contract].flatMap((text) =>
    [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code]) => code),
  );
  for (const code of named) expect(known.has(code as string) || settings.test(code as string), code).toBe(true);
});

it('the mistakes are told apart by words that messages really have', () => {
  const mistakes = skill.slice(skill.indexOf('| The message says'));
  const quoted = mistakes.split('\n').flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)]);
  const sources = kernelFiles().map(kernelSource).join('\n');
  const words = quoted.map(([, text]) => text as string);
  expect(words.length).toBeGreaterThan(10);
  for (const text of words) expect(sources).toContain(text);
});

it('the reference tells only of what the kernel exports', () => {
  const section = contract.slice(contract.indexOf('## 6. Also exported'));
  const names = [...section.matchAll(/`(\w+)[(`]/g)]
    .map(([, name]) => name as string)
    .filter((name) => name !== 'base');
  expect(names).toContain('toolError');
  for (const name of names) expect(Object.keys(kernelExports), name).toContain(name);
});

it('the builder agent carries the instructions and reads every file they name', async () => {
  const kernel = await boot({ root: tempFolder(NO_TERMINAL) });
  onTestFinished(() => kernel.shutdown());
  expect(kernel.extensions().find(({ id }) => id === 'builder_agent')?.state).toBe('RUNNING');
  const [instructions] = await kernel.describeTurn('builder_agent', 'Make a tool that reads feeds.', {});
  expect(instructions?.text).toContain(delimited(`Skill: ${BOUND}`, body));

  const tool = kernel.tools().find((one) => one.tool.name === 'read_skill_resource')?.tool;
  const turn = { agentId: 'builder_agent', boundSkills: [BOUND] };
  const files = TEMPLATES.flatMap((kind) =>
    readdirSync(join(SKILL, 'templates', kind)).map((file) => `templates/${kind}/${file}`),
  );
  for (const path of [...files, 'references/contract.md']) {
    const args = { skill_id: 'extension-development', path };
    const result = tool && (await runTool(tool, args, { turn, signal: new AbortController().signal }));
    expect(result).toMatchObject({ success: true, content: read(SKILL, path) });
  }
});
