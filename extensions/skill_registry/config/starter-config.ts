import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtExtensions, packageRoot } from '../../../kernel/host.ts';
import { isInside, realPathOf } from '../../../lib/files/index.ts';
import { ownerFile } from './owner-file.ts';
import { PRESET_NAMES, PRESETS, type PresetName } from './presets.ts';

/**
 * The text of a config file for a new root. Every key that may be set is in it, with its default and commented out, as in the manifest of the
 * registry. Only `sources` is set.
 *
 * @param root - Absolute. @param presets - The agents whose skills are sources; the others are commented out.
 */
export function starterConfig(root: string, presets: readonly PresetName[]): string {
  const manifest = readFileSync(join(builtExtensions(), 'skill_registry', 'manifest.yaml'), 'utf8');
  const [, block = ''] = manifest.split(/^config:\n/m);
  const lines = block.trimEnd().split('\n');
  return [
    `# yaml-language-server: $schema=${schemaAddress(root)}`,
    ...HEAD,
    ...lines.flatMap((line) => startOf(line.slice(2), presets)),
    '',
  ].join('\n');
}

// --- internal ---

const HEAD = [
  '# The config of skill-registry for this root. docs/configuration.md of the package explains every key.',
  '# "# " begins a comment. "#" without a blank after it stands before a key with its default: take it away, and change the value.',
  '',
];

/**
 * The JSON Schema of the config as editors with the YAML language server take it: relative to the config where the package is
 * installed in the root or above it, so that it is right on other machines as well; else the address of the file, without blanks.
 */
function schemaAddress(root: string): string {
  const schema = join('dist', 'schemas', 'config.schema.json');
  const from = dirname(ownerFile(root));
  for (let dir = root; ; dir = dirname(dir)) {
    const installed = join(dir, 'node_modules', 'skill-registry');
    if (realPathOf(installed) === packageRoot()) return relative(from, join(installed, schema));
    if (dir === dirname(dir)) break;
  }
  const file = join(packageRoot(), schema);
  return isInside(packageRoot(), realPathOf(root) ?? root) ? relative(from, file) : pathToFileURL(file).href;
}

function startOf(line: string, presets: readonly PresetName[]): readonly string[] {
  if (line.startsWith('#')) return [line];
  if (!line.startsWith('sources:')) return [`#${line}`, ''];
  const entries = PRESET_NAMES.filter((name) => name !== 'github').map((name) => {
    const { project, home } = PRESETS[name];
    const entry = `${presets.includes(name) ? '' : '#'}- { preset: ${name} }`;
    return `${entry.padEnd(25)} # ${project === home ? `${home}, here and` : `${project} here, ${home}`} in the home directory`;
  });
  return ['sources:', '- { path: skills, optional: true }', ...entries, '- { shipped: if_none }', ''];
}
