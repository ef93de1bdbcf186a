import { join } from 'node:path';

// A test may damage, remove or open to others what a user keeps, while other workers run theirs.
for (const name of ['XDG_STATE_HOME', 'XDG_CACHE_HOME']) {
  const folder = `${process.env[name]}`;
  const own = `worker-${process.env.VITEST_POOL_ID}`;
  if (!folder.endsWith(own)) process.env[name] = join(folder, own);
}
