import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Manifest, parseManifest } from '../../kernel/boot/manifest.ts';
import { packageRoot } from '../../kernel/host.ts';
import type { Tree } from '../helpers/temp-folder.ts';

/** The skill's folder. */
export const SKILL: string = join(packageRoot(), 'skills', 'extension-development');

/** Every kind of extension there is a template for, by folder name. */
export const TEMPLATES: readonly string[] = readdirSync(join(SKILL, 'templates')).sort();

/** Copies one template to `<root>/extensions/<id>`, as it is. @returns its manifest. */
export function copyTemplate(kind: string, root: string): Manifest {
  const from = join(SKILL, 'templates', kind);
  const { manifest, problems } = parseManifest(readFileSync(join(from, 'manifest.yaml'), 'utf8'), from);
  if (!manifest) throw new Error(problems.map((problem) => problem.message).join('\n'));
  cpSync(from, join(root, 'extensions', manifest.id), { recursive: true });
  return manifest;
}

/** Keeps the terminal out of a test: nobody is greeted, and standard input is left alone. */
export const NO_TERMINAL: Tree = {
  'extensions/cli_channel/manifest.yaml':
    'id: cli_channel\nname: Terminal\nversion: 0.0.0\nentrypoint: main:None\nenabled: false\n',
};
