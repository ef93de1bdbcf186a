// Ends this process like a power cut, right before one of its changes of files: `node --import <this file>`.
// DIE_AT: which change, from 1. Only changes below DIE_BELOW (a real path) count, or of files with the name DIE_NAME.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';

const { DIE_AT, DIE_BELOW, DIE_NAME } = process.env;
let left = Number(DIE_AT);

/** Files are reached through descriptors of their folders. */
function isMeant(target) {
  if (DIE_NAME !== undefined) return basename(String(target)) === DIE_NAME;
  if (typeof target === 'number') return isBelow(`/proc/self/fd/${target}`);
  try {
    return `${join(fs.realpathSync(dirname(target)), basename(target))}${sep}`.startsWith(`${DIE_BELOW}${sep}`);
  } catch {
    return false;
  }
}

function isBelow(link) {
  try {
    return fs.readlinkSync(link).startsWith(`${DIE_BELOW}${sep}`);
  } catch {
    return false;
  }
}

function dieBefore(name, counts = () => true) {
  const call = fs[name];
  fs[name] = (...args) => {
    // Of a rename or a link, the second path is what is made.
    const target = ['renameSync', 'linkSync'].includes(name) ? args[1] : args[0];
    if (counts(args) && isMeant(target)) {
      left -= 1;
      if (left === 0) process.kill(process.pid, 'SIGKILL');
    }
    return call(...args);
  };
}

for (const name of ['renameSync', 'linkSync', 'unlinkSync', 'rmdirSync', 'rmSync', 'mkdirSync']) dieBefore(name);
for (const name of ['writeSync', 'writeFileSync', 'fchmodSync']) dieBefore(name);
dieBefore('openSync', ([, flags]) => typeof flags === 'number' && (flags & fs.constants.O_CREAT) !== 0);
syncBuiltinESMExports();
