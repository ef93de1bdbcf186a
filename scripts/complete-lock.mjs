// Adds optional packages of other platforms to package-lock.json. npm leaves them out when a registry mirror lacks
// them, and `npm ci` then refuses the lock. Run it after each `npm install` that changed the lock.
import { readFileSync, writeFileSync } from 'node:fs';

const SYSTEMS = ['darwin', 'win32', 'android', 'freebsd', 'openharmony', 'linux'];
const PROCESSORS = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x'];

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
for (const [path, { optionalDependencies = {}, dev }] of Object.entries({ ...lock.packages })) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const key = `node_modules/${name}`;
    if (lock.packages[key] || lock.packages[`${path}/${key}`]) continue;
    const words = name.split(/[-/]/);
    lock.packages[key] = {
      version: version.replace(/^\D*/, ''),
      cpu: PROCESSORS.filter((processor) => words.includes(processor)),
      ...(dev ? { dev } : {}),
      ...(/musl/.test(name) ? { libc: ['musl'] } : /gnu/.test(name) ? { libc: ['glibc'] } : {}),
      optional: true,
      os: SYSTEMS.filter((system) => words.includes(system)),
    };
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
