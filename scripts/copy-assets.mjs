// Copies what tsc does not: manifests and prompt files of the package's own extensions, into dist/.
import { chmodSync, cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const ASSET = /^(manifest\.yaml|prompt\.(md|jinja2))$/;

for (const extension of readdirSync('extensions')) {
  for (const name of readdirSync(join('extensions', extension)).filter((file) => ASSET.test(file))) {
    cpSync(join('extensions', extension, name), join('dist', 'extensions', extension, name));
  }
}
chmodSync(join('dist', 'cli', 'main.js'), 0o755);
