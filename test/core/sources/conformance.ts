import { createHash } from 'node:crypto';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { describe, expect, it } from 'vitest';
import type { Skill } from '../../../extensions/skill_registry/api.ts';
import type { SkillRegistryConfig } from '../../../extensions/skill_registry/core/config/config.ts';
import type { SkillSource, SourceScan } from '../../../extensions/skill_registry/core/sources/source.ts';
import { skillMd, type Tree, tempFolder } from '../../helpers/temp-folder.ts';
import { outsideFolder, SECRET } from '../../helpers/traps.ts';

/** One kind of source over a place with the skill `tea`, described as DESCRIPTION, with the body BODY. */
export interface SourceKind {
  readonly title: string;
  readonly tree: Tree;
  make(root: string): SkillSource | Promise<SkillSource>;
  /** Below the root: the file that holds the text of `tea`. Absent: it is held in memory. */
  readonly file?: string;
  /** The whole content of `file` for a SKILL.md text. Default: the text itself. */
  readonly wrap?: (text: string) => string;
  /** Below the root: the folder of `tea`, in which lies FILES. Absent: it has no files. */
  readonly folder?: string;
  /** Files of `tea` that are held in memory. */
  readonly inMemory?: boolean;
  /** What is there when nothing is where the source should be; code of each problem. Absent: it cannot be missing. */
  readonly missing?: readonly string[];
  /** Below the root: what is removed for that. */
  readonly place?: string;
}

export const DESCRIPTION = 'How to brew tea.';
export const BODY = 'Steep it.';
export const TEA: string = skillMd({ name: 'tea', description: DESCRIPTION }, BODY);
export const FILES: Tree = { 'references/times.md': 'Green: 2 minutes.\n', 'scripts/boil.sh': '#!/bin/sh\n' };
export const LIMITS: SkillRegistryConfig['limits'] = {
  skill_tokens: 8000,
  resource_bytes: 1_000_000,
  file_bytes: 1_000_000,
  scan_depth: 8,
};

/** The files of the skill `tea` below a folder. */
export function teaIn(folder: string): Tree {
  const files = Object.entries(FILES).map(([path, text]) => [`${folder}/tea/${path}`, text]);
  return { [`${folder}/tea/SKILL.md`]: TEA, ...Object.fromEntries(files) };
}

export function scan(source: SkillSource): Promise<SourceScan> {
  return source.scan(LIMITS);
}

export function codesOf(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ code }) => code);
}

/** What every kind of source promises, whatever it is made of. */
export function describeSource(kind: SourceKind): void {
  const open = async () => {
    const root = tempFolder(kind.tree);
    const source = await kind.make(root);
    const { skills } = await scan(source);
    return { root, source, skills, tea: skills.find(({ id }) => id === 'tea') as Skill };
  };
  const wrap = kind.wrap ?? ((text: string) => text);

  describe(kind.title, () => {
    it('finds the skill, whole, under the id of the source', async () => {
      const { source, skills, tea } = await open();
      expect(tea).toMatchObject({ id: 'tea', source: source.id, name: 'tea', description: DESCRIPTION });
      expect(tea.qualifiedId.startsWith(`${source.id}:`)).toBe(true);
      expect(new Set(skills.map(({ qualifiedId }) => qualifiedId)).size).toBe(skills.length);
      expect(tea.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect([source.kind, source.location, tea.file].every((text) => text.length > 0)).toBe(true);
    });

    it('hands over the text its digest was made of, and no more bytes than it may', async () => {
      const { source, tea } = await open();
      const bytes = source.readSkill(tea, LIMITS.file_bytes);
      expect(bytes.toString('utf8').trim().endsWith(BODY)).toBe(true);
      expect(tea.digest).toBe(`sha256:${createHash('sha256').update(bytes).digest('hex')}`);
      expect(tea.bytes).toBe(bytes.length);
      expect(() => source.readSkill(tea, 3)).toThrow(expect.objectContaining({ code: 'RESOURCE_TOO_LARGE' }));
    });

    it('finds the same again when nothing has changed', async () => {
      const { root, source } = await open();
      const first = await scan(source);
      expect(await scan(source)).toEqual(first);
      expect(await scan(await kind.make(root))).toEqual(first);
    });

    it('lists files that can be read', async () => {
      const { source, tea } = await open();
      const listed = source.listing(tea).files;
      expect(listed.map(({ path }) => path)).toEqual(kind.folder || kind.inMemory ? Object.keys(FILES) : []);
      for (const { path, size } of listed) {
        expect(source.readResource(tea, path, LIMITS.resource_bytes).toString('utf8')).toBe(FILES[path]);
        expect(source.readResource(tea, path, LIMITS.resource_bytes).length).toBe(size);
        expect(() => source.readResource(tea, path, 1)).toThrow(
          expect.objectContaining({ code: 'RESOURCE_TOO_LARGE' }),
        );
      }
    });

    it('refuses every path that leads elsewhere', async () => {
      const { root, source, tea } = await open();
      const outside = outsideFolder();
      if (kind.folder) {
        symlinkSync(join(outside, 'secret.txt'), join(root, kind.folder, 'out.md'));
        symlinkSync(outside, join(root, kind.folder, 'out'));
      }
      const paths = ['../x', '../tea/SKILL.md', 'a/../../x', '/etc/passwd', 'C:x', 'a\\b', 'a\0b', join(outside, 'x')];
      for (const path of [...paths, 'out.md', 'out/secret.txt', 'no-such-file', '', '.', 'references']) {
        expect(() => source.readResource(tea, path, LIMITS.resource_bytes), JSON.stringify(path)).toThrow(
          expect.objectContaining({
            code: expect.stringMatching(/^(PATH_TRAVERSAL|RESOURCE_NOT_FOUND|INVALID_ARGUMENT)$/),
          }),
        );
      }
      for (const path of paths) {
        expect(() => source.readResource(tea, path, LIMITS.resource_bytes)).toThrow(
          expect.objectContaining({ code: 'PATH_TRAVERSAL' }),
        );
      }
    });

    it('does not read for a skill somebody made up', async () => {
      const { source, tea } = await open();
      const outside = outsideFolder();
      const secret = { dir: outside, file: join(outside, 'SKILL.md'), realFile: join(outside, 'SKILL.md') };
      const forged = { ...tea, ...secret, qualifiedId: 'elsewhere:tea' };
      expect(() => source.readSkill(forged, 1000)).toThrow(expect.objectContaining({ code: 'RESOURCE_NOT_FOUND' }));
      expect(() => source.readResource(forged, 'secret.txt', 1000)).toThrow(
        expect.objectContaining({ code: 'RESOURCE_NOT_FOUND' }),
      );
      expect(source.listing(forged).files).toEqual([]);
      // With a qualified id of the source, it gets what the source found under it.
      const redirected = { ...tea, ...secret };
      expect(source.readSkill(redirected, 1000).toString('utf8')).not.toContain(SECRET);
      expect(() => source.readResource(redirected, 'secret.txt', 1000)).toThrow();
    });

    it('tells which folders to watch and what lies in it', async () => {
      const { root, source } = await open();
      for (const folder of source.watchFolders()) expect(isAbsolute(folder)).toBe(true);
      expect(source.contains('/etc/passwd')).toBe(false);
      expect(source.contains(join(tempFolder(), 'x'))).toBe(false);
      if (kind.file) {
        expect(source.watchFolders().some((folder) => join(root, kind.file as string).startsWith(folder))).toBe(true);
        expect(source.contains(join(root, kind.file))).toBe(true);
      }
    });

    if (kind.file) describeFile(kind.file, wrap, open);
    if (kind.missing) describeMissing(kind, kind.missing);
  });
}

// --- internal ---

type Open = () => Promise<{ root: string; source: SkillSource; tea: Skill }>;

function describeFile(file: string, wrap: (text: string) => string, open: Open): void {
  it('sees an edit', async () => {
    const { root, source, tea } = await open();
    // As editors save.
    writeFileSync(join(root, 'new'), wrap(skillMd({ name: 'tea', description: 'New words.' }, 'Steep it longer.')));
    renameSync(join(root, 'new'), join(root, file));
    const { skills } = await scan(source);
    const edited = skills.find(({ id }) => id === 'tea') as Skill;
    expect(edited.description).toBe('New words.');
    expect(edited.digest).not.toBe(tea.digest);
    expect(source.readSkill(edited, 10_000).toString('utf8')).toContain('Steep it longer.');
  });

  it('sees that the skill has gone, and does not throw for it', async () => {
    const { root, source, tea } = await open();
    rmSync(join(root, file));
    expect(() => source.readSkill(tea, 10_000)).not.toThrow(TypeError);
    const { skills } = await scan(source);
    expect(skills.map(({ id }) => id)).not.toContain('tea');
    expect(() => source.readSkill(tea, 10_000)).toThrow(expect.objectContaining({ code: 'RESOURCE_NOT_FOUND' }));
  });

  it.each(HOSTILE)('makes a skill or a problem of %s', async (_, content) => {
    const { root, source } = await open();
    writeFileSync(join(root, file), content);
    const { skills, losers = [], problems } = await scan(source);
    expect(skills.length + problems.length).toBeGreaterThan(0);
    for (const skill of [...skills, ...losers]) {
      expect(skill.description).not.toMatch(/[\n\r\u2028]|^$/);
      expect(() => source.readSkill(skill, LIMITS.file_bytes)).not.toThrow();
    }
    for (const { code, severity, message } of problems) {
      expect([code, severity, message].every((text) => text.length > 0)).toBe(true);
    }
  });
}

function describeMissing(kind: SourceKind, codes: readonly string[]): void {
  it('is empty and throws nothing where nothing is, and fills when it comes', async () => {
    const root = tempFolder();
    const source = await kind.make(root);
    expect(source.contains(join(root, 'x'))).toBe(false);
    const { skills, problems } = await scan(source);
    expect(skills).toEqual([]);
    expect(codesOf(problems)).toEqual(codes);
    for (const folder of source.watchFolders()) expect(isAbsolute(folder)).toBe(true);
    const full = tempFolder(kind.tree);
    const there = await kind.make(full);
    expect((await scan(there)).skills).not.toEqual([]);
    rmSync(join(full, kind.place as string), { recursive: true });
    expect((await scan(there)).skills).toEqual([]);
  });
}

const HOSTILE: readonly (readonly [title: string, content: string | Uint8Array])[] = [
  ['nothing', ''],
  ['white space', ' \n\t\n '],
  ['random bytes', Uint8Array.from({ length: 4096 }, (_, index) => (index * 7919) % 256)],
  ['NULs', '\0'.repeat(1000)],
  ['an alias bomb', `---\na: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\ndescription: *c\n---\n`],
  ['deep nesting', `---\ndescription: ${'['.repeat(5000)}\n---\nText.`],
  ['deep JSON', `{"id":"x","skills":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ['JSON with deep members', `{"id":"x","skills":[${'{"path":'.repeat(5000)}1${'}'.repeat(5000)}]}`],
  ['an unclosed fence', '---\nname: tea\ndescription: Some.\n'],
  ['no fence at all', 'Just text.'],
  ['line ends in the description', '---\nname: tea\ndescription: "a\\nb\\u2028c"\n---\nBody.'],
  ['foreign prototypes', '---\n__proto__: { polluted: true }\nconstructor: x\ndescription: Some.\n---\nBody.'],
];
