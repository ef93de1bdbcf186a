import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../kernel/host.ts';
import { isInside, realPathOf } from '../../lib/files/index.ts';
import { ownerFile, shippedManifest, writeOwnerFile } from './core/config/owner-file.ts';
import { PRESET_NAMES, PRESETS, type PresetName } from './core/config/preset-table.ts';
import { type FoundAgent, foundAgents } from './core/sources/agent-folders.ts';

/** What `init` writes: all keys of the manifest with defaults, commented out, except the agents here in `sources`. */
export function startConfig(root: string): { agents: readonly FoundAgent[]; text: string; write(): void } {
  const agents = foundAgents(root);
  const presets = agents.map(({ preset }) => preset);
  const [, block = ''] = readFileSync(shippedManifest(), 'utf8').split(/^config:\n/m);
  const lines = block.trimEnd().split('\n');
  const text = [
    `# yaml-language-server: $schema=${schemaAddress(root)}`,
    ...HEAD,
    ...lines.flatMap((line) => startOf(line.slice(2), presets)),
    '',
  ].join('\n');
  return { agents, text, write: () => writeOwnerFile(root, text) };
}

// --- internal ---

const HEAD = [
  '# The config of skill-registry for this root. docs/configuration.md of the package explains every key.',
  '# "# " begins a comment. "#" without a blank after it stands before a key with its default: take it away, and change the value.',
  '',
];

/** For the YAML language server: a relative path if possible, because it is right on other machines, too. */
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
