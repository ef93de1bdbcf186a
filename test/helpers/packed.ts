import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../kernel/host.ts';

interface Packed {
  readonly status: number | null;
  readonly tarball: string;
  readonly stderr: string;
}

/** Packs what is in `from`, whose dist/ is built. @param tag - Of a release. */
export function pack(to: string, from: string = packageRoot(), ...tag: readonly string[]): Packed {
  const args = [join(packageRoot(), 'scripts/pack.mjs'), to, ...tag];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: from, encoding: 'utf8' });
  return { status, tarball: stdout.trim(), stderr };
}
