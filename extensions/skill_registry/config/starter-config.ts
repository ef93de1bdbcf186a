import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRESET_NAMES, PRESETS, type PresetName } from './presets.ts';

/**
 * The text of a config file for a new root. Every key that may be set is in it, with its default and behind a `#`, as the manifest of the
 * registry shows it. Only `sources` is set.
 *
 * @param presets - The agents whose skills are sources; the others stand behind a `#`.
 */
export function starterConfig(presets: readonly PresetName[]): string {
  const manifest = readFileSync(join(import.meta.dirname, '..', 'manifest.yaml'), 'utf8');
  const [, block = ''] = manifest.split(/^config:\n/m);
  const lines = block.trimEnd().split('\n');
  return [...HEAD, ...lines.flatMap((line) => startOf(line.slice(2), presets)), ''].join('\n');
}

// --- internal ---

const HEAD = [
  '# The config of skill-registry for this root. docs/configuration.md of the package explains every key.',
  '# "# " begins a comment. "#" without a blank after it stands before a key with its default: take it away, and change the value.',
  '',
];

/** A line of the manifest: a comment stays, a key gets a `#`. */
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
