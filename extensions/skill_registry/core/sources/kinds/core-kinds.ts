import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { packageRoot } from '../../../../../kernel/host.ts';
import { isInside } from '../../../../../lib/files/index.ts';
import type { InlineSkillConfig, SourceConfig } from '../../config/config.ts';
import { isPresetGroup, PRESET_GROUPS, PRESET_NAMES } from '../../config/preset-table.ts';
import { listOf, objectOf, oneOf, type Reader, readerOf, recordOf, someText, text } from '../../config/readers.ts';
import { locate } from '../../config/source-entry.ts';
import { presetFolders } from '../agent-folders.ts';
import type { SkillSource } from '../source.ts';
import type { SourceHost, SourceKind } from '../source-kind.ts';
import { isSkillFileName } from '../walk/names.ts';
import { createDirectorySource, createPathSource } from './directory-source.ts';
import { createInlineSource } from './inline-source.ts';

/** Folders and files, skills in the config, the folders of other agents, and the skills of this package. */
export const CORE_KINDS: readonly SourceKind[] = [
  {
    key: 'path',
    entry: { path: someText },
    open: async (config, host) => [openPath(config.path ?? '.', config, host)],
  },
  { key: 'inline', entry: { inline: inlineReader() }, asksItself: true, open: openInline },
  { key: 'preset', entry: { preset: oneOf(...PRESET_NAMES, ...PRESET_GROUPS) }, open: openPreset },
  { key: 'shipped', entry: { shipped: oneOf<true | 'if_none'>(true, 'if_none') }, open: openShipped },
];

export function shippedFolder(): string {
  return join(packageRoot(), 'skills');
}

// --- internal ---

function inlineReader(): Reader<InlineSkillConfig | readonly InlineSkillConfig[]> {
  const skill = objectOf<InlineSkillConfig>(
    { name: someText, description: someText, instructions: someText, files: recordOf(text) },
    {},
    ['name', 'description', 'instructions'],
  );
  const skills = listOf(skill);
  return readerOf({ anyOf: [skill.schema, skills.schema] }, (value, at) =>
    skills(Array.isArray(value) ? value : [value], at),
  );
}

async function openInline({ inline = [] }: SourceConfig, host: SourceHost): Promise<readonly SkillSource[]> {
  const skills = [inline].flat() as readonly InlineSkillConfig[];
  return [createInlineSource({ id: host.idOr('inline'), skills, file: host.configFile })];
}

/** One source per folder. */
async function openPreset(config: SourceConfig, host: SourceHost): Promise<readonly SkillSource[]> {
  const { entries, installedInto, options, root, takeId, trusted } = host;
  const { id: own, preset = 'agents', writable } = config;
  const isGroup = isPresetGroup(preset);
  const named = new Set(isGroup ? entries.map(({ path }) => path !== undefined && locate(path, root)) : []);
  const folders = presetFolders(preset, root, homedir()).filter(({ path }) => !named.has(path));
  return folders.map(({ id, path, project }) =>
    createDirectorySource({
      ...options,
      id: takeId(own === undefined ? id : isGroup ? `${own}-${id}` : id.replace(preset, own)),
      root: path,
      optional: true,
      onlyWithin: trusted || project === undefined ? undefined : { folder: project, root },
      writable: writable ?? (() => installedInto?.(path) ?? false),
    }),
  );
}

/** In a checkout of this package, `skills/` of the root is also the shipped folder: one source, not two. */
async function openShipped(config: SourceConfig, host: SourceHost): Promise<readonly SkillSource[]> {
  const folder = shippedFolder();
  if (host.entries.some(({ path }) => path !== undefined && locate(path, host.root) === folder)) return [];
  return [openPath(folder, config, host)];
}

function openPath(path: string, config: SourceConfig, { idOr, options, root, trusted }: SourceHost): SkillSource {
  const { shipped } = config;
  const location = locate(path, root);
  const isSkillFile = isSkillFileName(basename(location));
  const name = isSkillFile ? basename(dirname(location)) : basename(location).replace(/\.md$/i, '');
  return createPathSource({
    ...options,
    id: idOr(shipped ? 'shipped' : name),
    root: location,
    ifNone: shipped === 'if_none',
    onlyWithin: trusted || !isInside(location, root) ? undefined : { folder: root, root },
    writable: config.writable ?? shipped === undefined,
  });
}
