import type { Problem } from 'skill-registry/kernel';

export function tooDeep(dir: string, maxDepth: number, count: number): Problem {
  const message = `${count} folder(s) in here lie deeper than limits.scan_depth (${maxDepth}) and were not looked at. Raise it or add a source.`;
  return { code: 'SCAN_DEPTH_EXCEEDED', severity: 'warning', file: dir, message, details: { maxDepth, count } };
}

/** @param unapproved - The root, where nobody has approved it: then no setting of it helps. */
export function leadsOut(path: string, unapproved: string | undefined): Problem {
  const remedy = unapproved
    ? `Nobody has approved ${unapproved}, so links in it lead to its own sources alone; skill-registry trust allow ${unapproved} approves it.`
    : 'Set allow_outside: true for the source to allow it.';
  const message = `This link leads out of its source and was not followed. ${remedy}`;
  return { code: 'SYMLINK_OUTSIDE', severity: 'error', file: path, message };
}

export function leadsToPrivate(path: string): Problem {
  const message =
    'This link leads to what is never read: data/ of the root, .env, .git, .ssh or a private key. Remove the link.';
  return { code: 'SOURCE_RESERVED', severity: 'error', file: path, message };
}

export function brokenLink(path: string): Problem {
  const message = 'This link leads nowhere, or in a circle. Repair or remove it.';
  return { code: 'SYMLINK_BROKEN', severity: 'warning', file: path, message };
}
