import { createHash } from 'node:crypto';
import { realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { defineSource } from 'skill-registry';
import type { TurnContext } from 'skill-registry/kernel';
import { describe, expect, it } from 'vitest';
import { countTokens } from '../../../lib/text/index.ts';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd, type Tree, tempFolder } from '../../helpers/temp-folder.ts';

const BODY = '# Review\n\nRead the change twice.\n\n---\n\nThen speak.';
const FULL = skillMd(
  { name: 'Review Code', description: 'Reviews code.', tags: '[quality]', requires: '[git-basics, style]' },
  BODY,
);
const tree: Tree = {
  'skills/code-review/SKILL.md': FULL,
  'skills/code-review/references/guide.md': 'Guide.',
  'skills/code-review/run.sh': 'echo',
  'skills/style/SKILL.md': skillMd({ name: 'style', description: 'Keeps style.' }, 'Tabs or blanks.'),
};
const sha256 = (content: string): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

async function read(args: unknown, turn: TurnContext = {}, more: Tree = {}) {
  const { registry, root } = await openRegistry({ ...tree, ...more });
  const { directory, ...result } = await runRegistryTool(registry, 'read_skill', args, turn);
  // The root has another name in every test.
  return directory === undefined ? result : { ...result, directory: relative(realpathSync(root), String(directory)) };
}

describe('read_skill', () => {
  it('gives exactly this', async () => {
    const tokens = await countTokens(BODY);
    expect(await read({ skill_id: 'code-review' })).toEqual({
      success: true,
      skill_id: 'code-review',
      name: 'Review Code',
      content: BODY,
      approx_tokens: tokens,
      message: `Skill loaded: code-review (approx. ${tokens} tokens)`,
      requires: ['git-basics', 'style'],
      hint: "This skill requires: style. Load it first if you haven't already.",
      allowed_tools: [],
      directory: 'skills/code-review',
      resources: [
        { path: 'references/guide.md', size: 6 },
        { path: 'run.sh', size: 4 },
      ],
      digest: sha256(FULL),
      source: 'skills',
    });
  });

  it('has no hint where nothing is required', async () => {
    const result = await read({ skill_id: 'style' });
    expect(result).toMatchObject({ success: true, requires: [], resources: [] });
    expect(result).not.toHaveProperty('hint');
  });

  it.each([
    ['raw', FULL],
    ['body', BODY],
  ])('gives the file as it is, or its body: %s', async (view, content) => {
    const result = await read({ skill_id: 'code-review', view });
    expect(result).toMatchObject({ content, approx_tokens: await countTokens(content), digest: sha256(FULL) });
  });

  it('gives a byte order mark and CRLF back only in the raw view', async () => {
    const odd = `\ufeff${FULL.replaceAll('\n', '\r\n')}`;
    const more = { 'skills/odd/SKILL.md': odd };
    expect(await read({ skill_id: 'odd', view: 'raw' }, {}, more)).toMatchObject({ content: odd, digest: sha256(odd) });
    expect(await read({ skill_id: 'odd' }, {}, more)).toMatchObject({ content: BODY.replaceAll('\n', '\r\n') });
  });

  it('tells the real folder, absolute, whatever names the root has and whatever the working folder is', async () => {
    const linked = join(tempFolder(), 'linked');
    symlinkSync(tempFolder(tree), linked);
    const registry = await openRoot(relative(process.cwd(), linked));
    const { directory } = await runRegistryTool(registry, 'read_skill', { skill_id: 'style' });
    expect(directory).toBe(realpathSync(join(linked, 'skills/style')));
    expect(isAbsolute(String(directory))).toBe(true);
    expect(await registry.read('style')).toMatchObject({ directory, allowedTools: [] });
  });

  it('tells no folder where a skill has none: an inline one, one in a bare file, one of a program', async () => {
    const root = tempFolder({
      'notes.md': skillMd({ name: 'notes', description: 'Takes notes.' }),
      'pack.json': JSON.stringify({
        ...{ id: 'pack', name: 'Pack', version: '1.0.0', template_engine: { version: 'v1', syntax: '{{variable}}' } },
        ...{ prompts: {}, skills: [{ name: 'inline', description: 'Is inline.', instructions: 'Be.' }] },
      }),
    });
    const program = defineSource({
      id: 'program',
      skills: () => [{ id: 'made', description: 'Is made.', body: 'Make.' }],
    });
    const registry = await openRoot(root, { config: { sources: [{ path: 'notes.md' }, { pack: 'pack.json' }] } });
    await registry.addSource(program);
    for (const skillId of ['notes', 'inline', 'made']) {
      const result = await runRegistryTool(registry, 'read_skill', { skill_id: skillId });
      expect(result, skillId).toMatchObject({ success: true, allowed_tools: [] });
      expect(result, skillId).not.toHaveProperty('directory');
      expect(await registry.read(skillId), skillId).not.toHaveProperty('directory');
    }
  });

  it('tells the tools the author names, one by one and without hidden text, and limits nothing by them', async () => {
    const fields = { name: 'git', description: 'Commits.', 'allowed-tools': 'Bash(git add *), read_skill\u{E0041}' };
    const { registry } = await openRegistry({ ...tree, 'skills/git/SKILL.md': skillMd(fields) });
    for (const view of ['body', 'raw']) {
      const result = await runRegistryTool(registry, 'read_skill', { skill_id: 'git', view });
      expect(result.allowed_tools).toEqual(['Bash(git add *)', 'read_skill']);
    }
    const listed = await runRegistryTool(registry, 'list_skills', {});
    expect(listed).toMatchObject({ success: true, total: 3 });
  });

  it('takes a qualified id', async () => {
    expect(await read({ skill_id: 'skills:style' })).toMatchObject({ success: true, skill_id: 'style' });
  });

  it('reads what is on disk now, and its digest is of just that', async () => {
    const { root, registry } = await openRegistry(tree);
    const edited = skillMd({ name: 'style', description: 'Keeps style.' }, 'Changed since the last refresh.');
    writeFileSync(join(root, 'skills/style/SKILL.md'), edited);
    const result = await runRegistryTool(registry, 'read_skill', { skill_id: 'style' });
    expect(result).toMatchObject({ content: 'Changed since the last refresh.', digest: sha256(edited) });
  });

  it('says that a file has gone', async () => {
    const { root, registry } = await openRegistry(tree);
    rmSync(join(root, 'skills/style'), { recursive: true });
    const result = await runRegistryTool(registry, 'read_skill', { skill_id: 'style' });
    expect(result).toMatchObject({ success: false, error: { code: 'RESOURCE_NOT_FOUND' } });
  });

  it('says that a file has grown over the limit', async () => {
    const { root, registry } = await openRegistry(tree, { limits: { file_bytes: 1000 } });
    writeFileSync(join(root, 'skills/style/SKILL.md'), 'x'.repeat(1001));
    const result = await runRegistryTool(registry, 'read_skill', { skill_id: 'style' });
    expect(result).toMatchObject({ success: false, error: { code: 'RESOURCE_TOO_LARGE' } });
  });
});

describe('an id that is not there', () => {
  it.each([
    ['code-reviw', {}, 'No skill "code-reviw". Nearest: code-review.'],
    ['Code-Review', {}, 'No skill "Code-Review". Nearest: code-review.'],
    ['review', {}, 'No skill "review". Nearest: code-review.'],
    ['Review Code', {}, 'No skill "Review Code". No id is like it: take one from a list of skills.'],
    ['zzzzzzzzzzzzzzzz', {}, 'No skill "zzzzzzzzzzzzzzzz". No id is like it: take one from a list of skills.'],
    ['', {}, 'No skill "". No id is like it: take one from a list of skills.'],
    ['../code-review', {}, 'No skill "../code-review". Nearest: code-review.'],
    ['__proto__', {}, 'No skill "__proto__". No id is like it: take one from a list of skills.'],
    [
      'code-review',
      { boundSkills: ['style'] },
      'No skill "code-review". No id is like it: take one from a list of skills.',
    ],
    // What it is bound to requires it.
    ['styl', { boundSkills: ['code-review'] }, 'No skill "styl". Nearest: style.'],
    ['styl', { boundSkills: [] }, 'No skill "styl". No id is like it: take one from a list of skills.'],
    ['stile', { boundSkills: ['style'] }, 'No skill "stile". Nearest: style.'],
  ])('%j in the turn %j', async (skill_id, turn, message) => {
    expect(await read({ skill_id }, turn)).toEqual({ success: false, error: { code: 'SKILL_NOT_FOUND', message } });
  });

  it('is cut when it is very long', async () => {
    const result = await read({ skill_id: 'x'.repeat(10_000) });
    expect(JSON.stringify(result).length).toBeLessThan(300);
  });

  it('is answered alike whether it is out of scope or nowhere', async () => {
    const turn = { boundSkills: ['style'] };
    const outOfScope = JSON.stringify(await read({ skill_id: 'code-review' }, turn));
    const nowhere = JSON.stringify(await read({ skill_id: 'code-rev1ew' }, turn));
    expect(outOfScope.replace('code-review', 'X')).toBe(nowhere.replace('code-rev1ew', 'X'));
  });

  it('names no id that is out of scope', async () => {
    const nearest = async (turn: TurnContext) => JSON.stringify(await read({ skill_id: 'code-rev1ew' }, turn));
    expect(await nearest({})).toContain('code-review');
    expect(await nearest({ boundSkills: ['style'] })).not.toContain('code-review');
  });
});

it.each([
  [{}, 'skill_id'],
  [{ skill_id: 5 }, 'skill_id'],
  [{ skill_id: 'style', view: 'html' }, 'view'],
  [{ skill_id: 'style', audience: 'person' }, 'audience'],
  [{ skill_id: 'style', path: 'x' }, 'path'],
  [undefined, 'read_skill'],
])('refuses %j', async (args, named) => {
  const result = await read(args);
  expect(result).toMatchObject({ success: false, error: { code: 'INVALID_ARGUMENT' } });
  expect(JSON.stringify(result)).toContain(named);
});
