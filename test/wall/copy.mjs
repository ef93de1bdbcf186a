// A copy of the tree without features: without their folders, and without their lines in the list.
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');
const REGISTRY = 'extensions/skill_registry';
const LIST = `${REGISTRY}/features.ts`;
const FEATURES = `${REGISTRY}/features`;

/** Extensions that are nothing without a feature: they go with it. */
const EXTENSIONS = {
  history: ['workspace_files', 'builder_agent'],
  hub: ['skill_hub'],
  proposals: ['skill_reviewer', 'workspace_files', 'builder_agent'],
};

export function allFeatures() {
  return readdirSync(join(ROOT, FEATURES)).filter((name) => existsSync(join(ROOT, FEATURES, name, 'door.ts')));
}

/** With those that need them: that import a file of them, types included. */
export function withThoseThatNeed(features) {
  const needsOf = (feature) =>
    readdirSync(join(ROOT, FEATURES, feature), { recursive: true }).flatMap((name) => {
      const file = join(ROOT, FEATURES, feature, name);
      const text = file.endsWith('.ts') ? readFileSync(file, 'utf8') : '';
      const targets = [...text.matchAll(/(?:\bfrom |\bimport\()'(\.[^']+)'/g)].map(([, path]) =>
        join(file, '..', path),
      );
      return targets.map((target) => relative(join(ROOT, FEATURES), target).split(sep)[0]);
    });
  const gone = new Set(features);
  for (let before = 0; before !== gone.size; ) {
    before = gone.size;
    for (const name of allFeatures()) if (needsOf(name).some((other) => gone.has(other))) gone.add(name);
  }
  return [...gone].sort();
}

/** @param parts - Folders and files of the root. @returns the folder of the copy; the caller removes it. */
export function copyWithout(features, parts) {
  const copy = mkdtempSync(join(tmpdir(), 'skill-registry-wall-'));
  for (const part of parts) cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const extensions = new Set(features.flatMap((name) => EXTENSIONS[name] ?? []));
  const gone = [
    ...features.flatMap((name) => [`${FEATURES}/${name}`, `test/features/${name}`, `test/slow/features/${name}`]),
    ...[...extensions].flatMap((name) => [`extensions/${name}`, `test/${name}`, `test/slow/${name}`]),
  ];
  for (const folder of gone) rmSync(join(copy, folder), { recursive: true, force: true });
  writeFileSync(join(copy, LIST), listWithout(features));
  return copy;
}

function listWithout(features) {
  const lines = readFileSync(join(ROOT, LIST), 'utf8').split('\n');
  const named = lines.flatMap((line) => {
    const [, name, from] = /^import \{ (\w+) \} from '\.\/features\/(\w+)\/door\.ts';$/.exec(line) ?? [];
    return features.includes(from) ? [name] : [];
  });
  const isGone = (line) =>
    features.some((name) => line.includes(`'./features/${name}/`)) || named.some((name) => line === `  ${name},`);
  return lines.filter((line) => !isGone(line)).join('\n');
}
