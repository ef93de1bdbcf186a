import { describe, expect, it } from 'vitest';
import { countTokens } from '../../../lib/text/index.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0xff]);
const SKILL = skillMd({ name: 'paint', description: 'Paints.' });
const tree: Tree = {
  'skills/paint/SKILL.md': SKILL,
  'skills/paint/references/guide.md': '\ufeffLine\r\nünï — 日本\n',
  'skills/paint/logo.png': PNG,
  'skills/paint/empty': '',
  'skills/paint/a b.txt': 'blank',
  'skills/paint/limit': 'x'.repeat(1000),
  'skills/paint/over': 'x'.repeat(1001),
  'skills/paint/link': { link: 'empty' },
  'skills/other/SKILL.md': skillMd({ name: 'other', description: 'Other.' }),
};

async function read(args: unknown, turn = {}) {
  const { registry } = await openRegistry(tree, { limits: { resource_bytes: 1000 } });
  return runRegistryTool(registry, 'read_skill_resource', args, turn);
}

describe('read_skill_resource', () => {
  it('gives exactly this for text, byte for byte', async () => {
    const content = '\ufeffLine\r\nünï — 日本\n';
    expect(await read({ skill_id: 'paint', path: 'references/guide.md' })).toEqual({
      success: true,
      skill_id: 'paint',
      path: 'references/guide.md',
      content,
      encoding: 'utf-8',
      size: Buffer.byteLength(content),
      approx_tokens: await countTokens(content),
    });
  });

  it('gives base64 for what is no text', async () => {
    const result = await read({ skill_id: 'paint', path: 'logo.png' });
    const content = Buffer.from(PNG).toString('base64');
    expect(result).toMatchObject({ success: true, encoding: 'base64', content, size: 10 });
    expect(result.approx_tokens).toBe(await countTokens(content));
  });

  it.each([
    ['empty', 'empty', ''],
    ['a b.txt', 'a b.txt', 'blank'],
    ['./references//guide.md', './references//guide.md', '\ufeffLine\r\nünï — 日本\n'],
    ['SKILL.md', 'SKILL.md', SKILL],
    ['limit', 'limit', 'x'.repeat(1000)],
  ])('reads %s', async (path, shown, content) => {
    expect(await read({ skill_id: 'paint', path })).toMatchObject({ success: true, path: shown, content });
  });

  it('says so when the skill has no other file', async () => {
    const message = 'Cannot read "notes.md": no such file. The skill has only SKILL.md.';
    expect(await read({ skill_id: 'other', path: 'notes.md' })).toMatchObject({ error: { message } });
  });

  it.each([
    [
      'over',
      'RESOURCE_TOO_LARGE',
      expect.stringMatching(/has 1001 bytes, more than the limit of 1000\. .*limits\.resource_bytes/),
    ],
    ['logo.pn', 'RESOURCE_NOT_FOUND', 'Cannot read "logo.pn": no such file. Nearest: "logo.png".'],
    ['zzzzzzzzzzzz', 'RESOURCE_NOT_FOUND', expect.stringMatching(/Beside SKILL\.md it has \d+ files?: .*"logo\.png"/)],
    ['absent', 'RESOURCE_NOT_FOUND', expect.stringContaining('"absent"')],
    ['references', 'RESOURCE_NOT_FOUND', expect.stringContaining('directory')],
    ['empty/x', 'RESOURCE_NOT_FOUND', expect.stringContaining('"empty/x"')],
    [
      '../other/SKILL.md',
      'PATH_TRAVERSAL',
      expect.stringContaining('Path traversal detected. Give a path inside the folder'),
    ],
    [
      '/etc/hostname',
      'PATH_TRAVERSAL',
      expect.stringContaining('Path traversal detected. Give a path inside the folder'),
    ],
    ['link', 'PATH_TRAVERSAL', expect.stringContaining('Path traversal detected. Give a path inside the folder')],
    ['', 'INVALID_ARGUMENT', expect.stringContaining('path')],
    ['.', 'INVALID_ARGUMENT', expect.stringContaining('path')],
  ])('refuses %j with %s', async (path, code, message) => {
    expect(await read({ skill_id: 'paint', path })).toEqual({ success: false, error: { code, message } });
  });

  it.each([
    ['of a skill that is not there', { skill_id: 'pain', path: 'empty' }, {}, 'No skill "pain". Nearest: paint.'],
    [
      'of a skill out of scope, whether the file exists or not',
      { skill_id: 'paint', path: 'absent' },
      { boundSkills: ['other'] },
      'No skill "paint". No id is like it: take one from a list of skills.',
    ],
  ])('says nothing about a file %s', async (_, args, turn, message) => {
    expect(await read(args, turn)).toEqual({ success: false, error: { code: 'SKILL_NOT_FOUND', message } });
  });

  it.each([
    [{ skill_id: 'paint' }, 'path'],
    [{ path: 'empty' }, 'skill_id'],
    [{ skill_id: 'paint', path: 5 }, 'path'],
    [{ skill_id: 'paint', path: 'empty', encoding: 'utf-8' }, 'encoding'],
  ])('refuses %j', async (args, named) => {
    const result = await read(args);
    expect(result).toMatchObject({ success: false, error: { code: 'INVALID_ARGUMENT' } });
    expect(JSON.stringify(result)).toContain(named);
  });
});
