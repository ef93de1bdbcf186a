// Builds dist/ (with --if-needed only when a source is newer): tsc, then what tsc does not copy. Only the package's own extensions are in it; others run from their sources.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeSchemas } from './schemas.mjs';

/** With code, these are listed in tsconfig.build.json as well. */
const OWN_EXTENSIONS = [
  'builder_agent',
  'cli_channel',
  'orchestrator_agent',
  'skill_mcp',
  'skill_registry',
  'skill_review',
  'skill_reviewer',
  'workspace_files',
];
const ASSETS = ['manifest.yaml', 'prompt.md', 'prompt.jinja2', 'assets'];

if (process.argv.includes('--if-needed') && isUpToDate()) process.exit(0);

const startedAt = Date.now();
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
for (const id of OWN_EXTENSIONS) {
  for (const asset of ASSETS.filter((name) => statSync(join('extensions', id, name), { throwIfNoEntry: false }))) {
    cpSync(join('extensions', id, asset), join('dist', 'extensions', id, asset), { recursive: true });
  }
}
chmodSync(join('dist', 'cli', 'main.js'), 0o755);
await writeSchemas();

// Everything was written anew; what is older has lost its source.
for (const entry of readdirSync('dist', { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isFile() && statSync(path).mtimeMs < startedAt - 1000) rmSync(path);
}

function isUpToDate() {
  const built = statSync(join('dist', 'cli', 'main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const folders = ['lib', 'kernel', 'cli', ...OWN_EXTENSIONS.map((id) => join('extensions', id))];
  const sources = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => join(entry.parentPath, entry.name)),
  );
  return [
    ...sources,
    'docs/configuration.md',
    'scripts/schemas.mjs',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ].every((path) => statSync(path).mtimeMs < built);
}
