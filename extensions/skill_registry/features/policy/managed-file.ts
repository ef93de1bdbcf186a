import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describeError } from 'skill-registry/kernel';
import { readMapping } from '../../../../kernel/host.ts';
import { readContained } from '../../../../lib/files/index.ts';
import { objectOf } from '../../core/config/readers.ts';
import { type SecretHeaders, secretHeaders } from '../install/secret-headers.ts';
import { NO_POLICY, namedFields, type PolicyConfig, readWholly } from './rules.ts';

/** No setting, flag or variable names another one. */
export const MANAGED_FILE = '/etc/skill-registry/policy.yaml';

const MAX_MANAGED = 64 * 1024;

/** `headers`: for a private page. */
interface ManagedPolicy extends PolicyConfig {
  readonly headers?: SecretHeaders;
}

/** @returns undefined where this machine has none; a text: why it cannot be used, and then nothing may be given. */
export function readManaged(file: string = MANAGED_FILE, owner = 0): ManagedPolicy | string | undefined {
  try {
    // No user of Windows is the one that owns the files of the system.
    if (process.platform === 'win32') return undefined;
    const folder = statsOf(dirname(file));
    if (!folder) return undefined;
    const wrong = whyUnsafe(folder, folder.isDirectory(), owner);
    if (wrong !== undefined) return `the folder ${dirname(file)} ${wrong}`;
    const stats = statsOf(file);
    if (!stats) return undefined;
    const why = whyUnsafe(stats, stats.isFile(), owner);
    if (why !== undefined) return `${file} ${why}`;
    const read = readMapping(readContained(realpathSync(dirname(file)), basename(file), MAX_MANAGED).toString('utf8'));
    if (!('values' in read)) return `${file}, line ${read.line}: ${read.reason}`;
    const policy = readWholly(managedPolicy, read.values);
    return typeof policy === 'string' ? `${file}, ${policy}` : policy;
  } catch (error) {
    return `${file} cannot be read (${describeError(error)}): chmod 755 its folder and 644 the file`;
  }
}

// --- internal ---

const managedPolicy = objectOf<ManagedPolicy>({ ...namedFields, headers: secretHeaders }, NO_POLICY, ['from']);

/** Undefined only where there is nothing: what cannot be looked at may be a policy. */
function statsOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function whyUnsafe(stats: Stats, isOfKind: boolean, owner: number): string | undefined {
  if (stats.isSymbolicLink()) return 'is a link: put the folder or file itself there';
  if (!isOfKind) return 'is of another kind, expected a folder with a regular file';
  if (stats.uid !== owner) return `belongs to user ${stats.uid}: chown root it`;
  return stats.mode & 0o022 ? 'can be written by others: chmod go-w it' : undefined;
}
