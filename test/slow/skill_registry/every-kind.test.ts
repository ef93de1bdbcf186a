import { join } from 'node:path';
import { afterEach, beforeEach, vi } from 'vitest';
import { createCustomSource } from '../../../extensions/skill_registry/core/sources/kinds/custom-source.ts';
import {
  createDirectorySource,
  createPathSource,
} from '../../../extensions/skill_registry/core/sources/kinds/directory-source.ts';
import { createInlineSource } from '../../../extensions/skill_registry/core/sources/kinds/inline-source.ts';
import { makeSources } from '../../../extensions/skill_registry/core/sources/make-sources.ts';
import type { SkillSource } from '../../../extensions/skill_registry/core/sources/source.ts';
import { createPackSource } from '../../../extensions/skill_registry/features/packs/pack-source.ts';
import { createPackageSource } from '../../../extensions/skill_registry/features/packs/package-source.ts';
import {
  BODY,
  DESCRIPTION,
  describeSource,
  FILES,
  type SourceKind,
  TEA,
  teaIn,
} from '../../core/sources/conformance.ts';
import type { Tree } from '../../helpers/temp-folder.ts';

/** Whoever runs this may have skills of their own at home. */
beforeEach(() => void vi.stubEnv('HOME', '/no/home'));
afterEach(() => void vi.unstubAllEnvs());

const inline = { name: 'tea', description: DESCRIPTION, instructions: BODY };
const json = (value: unknown): string => JSON.stringify(value);

const packageAt = (root: string): SkillSource => createPackageSource({ id: 'src', name: '@acme/brew', from: root });
const PACKAGE = 'node_modules/@acme/brew';
const packageTree = (fields: object, files: Tree): Tree => ({
  [`${PACKAGE}/package.json`]: json({ name: '@acme/brew', version: '1.0.0', type: 'module', ...fields }),
  ...files,
});

const packAt = (root: string): SkillSource =>
  createPackSource({ id: 'src', file: join(root, 'pack/p.json'), allowOutside: false, preload: false });
const pack = (...skills: readonly unknown[]): Tree => ({ 'pack/p.json': json({ id: 'p', skills }) });

/** A SKILL.md as the inline entry of a pack; what is no such text is left as it is. */
const asEntry = (text: string): string => {
  const [, description, instructions] = /\ndescription: (.*)\n---\n\n([\s\S]*)$/.exec(text) ?? [];
  return description ? json({ id: 'p', skills: [{ ...inline, description, instructions }] }) : text;
};

/** What a package may return that knows nothing of this one: plain objects, texts as they came. */
const OWN = { id: 'tea', description: DESCRIPTION, body: BODY, files: FILES as Readonly<Record<string, string>> };
const FACTORY = `
  class Brew {
    id = 'their-own-id';
    made = [${json(OWN)}];
    async skills() { return this.made; }
  }
  export const skillSource = () => new Brew();`;

const inFolder = { file: 'skills/tea/SKILL.md', folder: 'skills/tea' };
const inPackage = { file: `${PACKAGE}/skills/tea/SKILL.md`, folder: `${PACKAGE}/skills/tea`, place: PACKAGE };
const inPack = { file: 'pack/skills/tea/SKILL.md', folder: 'pack/skills/tea', place: 'pack' };
const directory = (root: string): SkillSource =>
  createDirectorySource({ id: 'src', root: join(root, 'skills'), allowOutside: false });

const KINDS: readonly SourceKind[] = [
  {
    title: 'a directory',
    tree: teaIn('skills'),
    make: directory,
    ...inFolder,
    missing: ['SOURCE_MISSING'],
    place: 'skills',
  },
  {
    title: 'an optional directory',
    tree: teaIn('skills'),
    make: (root) =>
      createDirectorySource({ id: 'src', root: join(root, 'skills'), allowOutside: false, optional: true }),
    ...inFolder,
    missing: [],
    place: 'skills',
  },
  {
    title: 'a directory that is itself a skill',
    tree: teaIn('.'),
    make: (root) => createDirectorySource({ id: 'src', root: join(root, 'tea'), allowOutside: false }),
    file: 'tea/SKILL.md',
    folder: 'tea',
    missing: ['SOURCE_MISSING'],
    place: 'tea',
  },
  {
    title: 'a bare file',
    tree: { 'notes/tea.md': TEA },
    make: (root) => createPathSource({ id: 'src', root: join(root, 'notes/tea.md'), allowOutside: true }),
    file: 'notes/tea.md',
    missing: ['SOURCE_MISSING'],
    place: 'notes/tea.md',
  },
  {
    title: 'a package with a folder of skills',
    tree: packageTree({}, teaIn(`${PACKAGE}/skills`)),
    make: packageAt,
    ...inPackage,
    missing: ['PACKAGE_NOT_FOUND'],
  },
  {
    title: 'a package that names its folders',
    tree: packageTree({ skills: ['./more', './skills'] }, { ...teaIn(`${PACKAGE}/skills`), [`${PACKAGE}/more/x`]: '' }),
    make: packageAt,
    ...inPackage,
    missing: ['PACKAGE_NOT_FOUND'],
  },
  {
    title: 'a package whose factory returns a folder',
    tree: packageTree(
      { exports: { import: './main.js' } },
      {
        ...teaIn(`${PACKAGE}/own`),
        [`${PACKAGE}/main.js`]:
          `import { fileURLToPath } from 'node:url';\n` +
          `export const skillSource = () => fileURLToPath(new URL('./own', import.meta.url));`,
      },
    ),
    make: packageAt,
    file: `${PACKAGE}/own/tea/SKILL.md`,
    folder: `${PACKAGE}/own/tea`,
    place: PACKAGE,
    missing: ['PACKAGE_NOT_FOUND'],
  },
  {
    title: 'a package whose factory returns a source',
    tree: packageTree({ main: 'main.js' }, { [`${PACKAGE}/main.js`]: FACTORY }),
    make: packageAt,
    inMemory: true,
    place: PACKAGE,
    missing: ['PACKAGE_NOT_FOUND'],
  },
  {
    title: 'skills written in the config',
    tree: {},
    make: (root) => {
      const files = FILES as Readonly<Record<string, string>>;
      return createInlineSource({ id: 'src', skills: [{ ...inline, files }], file: join(root, 'config.yaml') });
    },
    inMemory: true,
  },
  {
    title: 'a pack with a folder',
    tree: { ...pack('./skills'), ...teaIn('pack/skills') },
    make: packAt,
    ...inPack,
    missing: ['PACK_UNREADABLE'],
  },
  {
    title: 'a pack with a bare file',
    tree: { ...pack({ path: './tea.md' }), 'pack/tea.md': TEA },
    make: packAt,
    file: 'pack/tea.md',
    missing: ['PACK_UNREADABLE'],
    place: 'pack',
  },
  {
    title: 'a pack with a package',
    tree: { ...pack('@acme/brew'), ...packageTree({}, teaIn(`${PACKAGE}/skills`)) },
    make: packAt,
    file: inPackage.file,
    folder: inPackage.folder,
    place: 'pack',
    missing: ['PACK_UNREADABLE'],
  },
  {
    title: 'a pack with an inline skill',
    tree: pack(inline),
    make: packAt,
    file: 'pack/p.json',
    wrap: asEntry,
    missing: ['PACK_UNREADABLE'],
    place: 'pack',
  },
  {
    title: 'a preset',
    tree: teaIn('.claude/skills'),
    make: async (root) => {
      const flags = { allow_outside: false, preload: true, optional: false, ignore_files: false, bare_files: false };
      const noPages = { fetchCopy: async () => ({ isComplete: true }), onProgress: () => undefined };
      const configFile = join(root, 'config.yaml');
      const defaults = { root, configFile, taken: new Set<string>(), ...noPages } as const;
      return (await makeSources([{ preset: 'claude', ...flags }], defaults))[0] as SkillSource;
    },
    file: '.claude/skills/tea/SKILL.md',
    folder: '.claude/skills/tea',
    missing: [],
    place: '.claude',
  },
  {
    title: 'a source of a program’s own under an id of ours',
    tree: {},
    make: () => createCustomSource({ id: 'theirs', skills: [OWN] }, { id: 'src', location: 'this program' }),
    inMemory: true,
  },
];

for (const kind of KINDS) describeSource(kind);
