// node scripts/pack.mjs [folder] [tag]: the tarball is put there (default: here), if it may be published as this tag.
// node scripts/pack.mjs --check: looks at the tarball with attw and publint, and removes it.
// It is packed in a folder of its own. It has no scripts and no dependency with one: npm warns of each.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [given = '.', tag] = process.argv.slice(2);
const {
  private: _,
  scripts,
  devDependencies,
  allowScripts,
  optionalDependencies,
  ...kept
} = JSON.parse(readFileSync('package.json', 'utf8'));
if (tag !== undefined && !kept.repository) refuse('package.json has no repository, so nobody owns what is published');
if (tag !== undefined && tag !== `v${kept.version}`) refuse(`the tag ${tag} is not v${kept.version} of package.json`);

for (const name of Object.keys(optionalDependencies)) {
  kept.peerDependencies[name] = '*';
  kept.peerDependenciesMeta[name] = { optional: true };
}
const folder = mkdtempSync(join(tmpdir(), 'skill-registry-pack-'));
try {
  for (const name of ['README.md', 'LICENSE', ...kept.files.filter((one) => !one.startsWith('!'))])
    cpSync(name, join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(kept, null, 2)}\n`);
  const to = given === '--check' ? folder : resolve(given);
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', to], { cwd: folder });
  const tarball = join(to, `${kept.name}-${kept.version}.tgz`);
  if (given === '--check') {
    execFileSync('attw', [tarball, '--profile', 'esm-only'], { stdio: 'inherit' });
    execFileSync('publint', [tarball, '--strict'], { stdio: 'inherit' });
  } else process.stdout.write(`${tarball}\n`);
} finally {
  rmSync(folder, { recursive: true });
}

function refuse(why) {
  process.stderr.write(`Not packed: ${why}.\n`);
  process.exit(1);
}
