import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type AtEnd, tempFolder, writeTree } from './temp-folder.ts';

/** Stands in every file nobody may reach. */
export const SECRET = 'the launch code is 0451';

/** A folder beside everything, full of secrets. */
export function outsideFolder(atEnd: AtEnd = onTestFinished): string {
  const tree = {
    'secret.txt': SECRET,
    'guide.md': SECRET,
    'references/guide.md': SECRET,
    'only-outside.txt': SECRET,
    'SKILL.md': `---\nname: good\ndescription: ${SECRET}\n---\n${SECRET}\n`,
  };
  return tempFolder(tree, atEnd);
}

/**
 * Puts everything into `dir` that is no plain file: links of every kind, a FIFO, a socket, and a device where the system
 * lets us make one.
 *
 * @param dir - Has `references/guide.md`; beside it lies `sibling/private.md`.
 * @returns whether there is a device.
 */
export async function setTraps(dir: string, outside: string, atEnd: AtEnd = onTestFinished): Promise<boolean> {
  writeTree(dir, {
    'link-outside.md': { link: join(outside, 'secret.txt') },
    'link-sibling.md': { link: '../sibling/private.md' },
    'link-inside.md': { link: 'references/guide.md' },
    'link-chain.md': { link: 'link-outside.md' },
    'link-dangling.md': { link: join(outside, 'to-be-made.txt') },
    'link-loop.md': { link: 'link-loop.md' },
    'link-root': { link: '/' },
    'link-self': { link: '.' },
    'link-parent': { link: '..' },
    'link-proc': { link: '/proc/self' },
    'link-environ': { link: '/proc/self/environ' },
    'link-zero': { link: '/dev/zero' },
    'folder-outside': { link: outside },
    'folder-sibling': { link: '../sibling' },
    'folder-inside': { link: 'references' },
    'references/folder-outside': { link: outside },
  });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(dir, 'socket'), resolve));
  atEnd(() => void server.close());
  // One process for both: starting one takes longer than everything else here.
  execFileSync('sh', ['-c', 'mkfifo fifo && { mknod device c 1 5 2>/dev/null || true; }'], { cwd: dir });
  return existsSync(join(dir, 'device'));
}

/** What a path is tried with. A function is given the folder outside and the folder the path is relative to. */
export type Attempt = readonly [title: string, path: string | ((outside: string, dir: string) => string), code: string];

/** Refused for how they look, whatever the file system holds. */
export const FORGED: readonly Attempt[] = [
  ['the parent', '..', 'PATH_TRAVERSAL'],
  ['a file of the parent', '../secret.txt', 'PATH_TRAVERSAL'],
  ['a sibling skill', '../sibling/private.md', 'PATH_TRAVERSAL'],
  ['the way up and back', '../good/references/guide.md', 'PATH_TRAVERSAL'],
  ['.. in the middle', 'references/../../sibling/private.md', 'PATH_TRAVERSAL'],
  ['.. that stays inside', 'references/../references/guide.md', 'PATH_TRAVERSAL'],
  ['.. at the end', 'references/..', 'PATH_TRAVERSAL'],
  ['.. and a slash at the end', 'references/../', 'PATH_TRAVERSAL'],
  ['.. after .', './../sibling/private.md', 'PATH_TRAVERSAL'],
  ['.. between empty segments', 'references//..//..//sibling//private.md', 'PATH_TRAVERSAL'],
  ['very many ..', `${'../'.repeat(1000)}etc/passwd`, 'PATH_TRAVERSAL'],
  ['an absolute path', '/etc/passwd', 'PATH_TRAVERSAL'],
  ['the root', '/', 'PATH_TRAVERSAL'],
  ['two slashes first', '//etc/passwd', 'PATH_TRAVERSAL'],
  ['the absolute path of the secret', (outside) => join(outside, 'secret.txt'), 'PATH_TRAVERSAL'],
  ['the absolute path of a file inside', (_outside, dir) => join(dir, 'references/guide.md'), 'PATH_TRAVERSAL'],
  ['the environment of the process', '/proc/self/environ', 'PATH_TRAVERSAL'],
  ['the root through /proc', '/proc/self/root/etc/passwd', 'PATH_TRAVERSAL'],
  ['standard input', '/dev/stdin', 'PATH_TRAVERSAL'],
  ['a descriptor', '/dev/fd/0', 'PATH_TRAVERSAL'],
  ['backslashes upwards', '..\\..\\secret.txt', 'PATH_TRAVERSAL'],
  ['a backslash inside', 'references\\guide.md', 'PATH_TRAVERSAL'],
  ['a mix of slashes', 'references/..\\..\\secret.txt', 'PATH_TRAVERSAL'],
  ['a UNC path', '\\\\server\\share\\secret.txt', 'PATH_TRAVERSAL'],
  ['a UNC path with slashes', '//server/share/secret.txt', 'PATH_TRAVERSAL'],
  ['a verbatim Windows path', '\\\\?\\C:\\secret.txt', 'PATH_TRAVERSAL'],
  ['a drive', 'C:\\secret.txt', 'PATH_TRAVERSAL'],
  ['a drive with slashes', 'C:/secret.txt', 'PATH_TRAVERSAL'],
  ['a drive without a slash', 'c:secret.txt', 'PATH_TRAVERSAL'],
  ['NUL alone', '\0', 'PATH_TRAVERSAL'],
  ['NUL at the end', 'references/guide.md\0', 'PATH_TRAVERSAL'],
  ['NUL and another ending', 'references/guide.md\0.png', 'PATH_TRAVERSAL'],
  ['NUL after ..', '..\0/secret.txt', 'PATH_TRAVERSAL'],
  ['nothing', '', 'INVALID_ARGUMENT'],
  ['the folder itself', '.', 'INVALID_ARGUMENT'],
  ['the folder itself with a slash', './', 'INVALID_ARGUMENT'],
  ['the folder itself in a roundabout way', './/././/.', 'INVALID_ARGUMENT'],
  ['a folder with a slash', 'references/', 'INVALID_ARGUMENT'],
  ['a file with a slash', 'references/guide.md/', 'INVALID_ARGUMENT'],
  ['a file with slash and dot', 'references/guide.md/.', 'INVALID_ARGUMENT'],
  ['5,000 characters', 'a'.repeat(5000), 'INVALID_ARGUMENT'],
  ['5,000 levels', `${'a/'.repeat(5000)}x`, 'INVALID_ARGUMENT'],
  ['65 levels', `${'a/'.repeat(64)}x`, 'INVALID_ARGUMENT'],
];

/** Names like any other, however they look: no such file. */
export const UNDECODED: readonly Attempt[] = [
  '%2e%2e/secret.txt',
  '%2e%2e%2fsecret.txt',
  '..%2fsecret.txt',
  '..%5csecret.txt',
  '%252e%252e%252fsecret.txt',
  '..%c0%afsecret.txt',
  'references%2fguide.md',
  'references/guide.md%00',
  '\uff0e\uff0e/secret.txt',
  '\u2025/secret.txt',
  '\u2024\u2024/secret.txt',
  '..\u2215secret.txt',
  '..\u2044secret.txt',
  '..\uff0fsecret.txt',
  '..\u29f5secret.txt',
  '.\u200b./secret.txt',
  '.. /secret.txt',
  ' ../secret.txt',
  '.../secret.txt',
  '....//secret.txt',
  '..;/secret.txt',
  '~',
  '~/secret.txt',
  '~root/.ssh/id_rsa',
  '$HOME/secret.txt',
  'proc/self/environ',
  'file:///etc/passwd',
  'references/guide.md\n',
  '\nreferences/guide.md',
  'references/guide.md\r\n../secret.txt',
  'references/*',
  'references/guide.md::$DATA',
  'references/\ud800guide.md',
  'references/\u202eguide.md',
  'a'.repeat(300),
  `references/${'b'.repeat(300)}/guide.md`,
].map((path) => [JSON.stringify(path.length > 60 ? `${path.length} characters` : path), path, 'RESOURCE_NOT_FOUND']);

/** Led into what `setTraps` has put there. */
export const TRAPPED: readonly Attempt[] = [
  ['a link to a file outside', 'link-outside.md', 'PATH_TRAVERSAL'],
  ['a link to a file of a sibling', 'link-sibling.md', 'PATH_TRAVERSAL'],
  ['a link to a file inside', 'link-inside.md', 'PATH_TRAVERSAL'],
  ['a link to a link', 'link-chain.md', 'PATH_TRAVERSAL'],
  ['a link to nothing', 'link-dangling.md', 'PATH_TRAVERSAL'],
  ['a link to itself', 'link-loop.md', 'PATH_TRAVERSAL'],
  ['a link to the environment of the process', 'link-environ', 'PATH_TRAVERSAL'],
  ['a link to an endless device', 'link-zero', 'PATH_TRAVERSAL'],
  ['a link to a folder outside', 'folder-outside', 'PATH_TRAVERSAL'],
  ['a file in a linked folder outside', 'folder-outside/secret.txt', 'PATH_TRAVERSAL'],
  ['no file in a linked folder outside', 'folder-outside/missing.txt', 'PATH_TRAVERSAL'],
  ['a folder in a linked folder outside', 'folder-outside/references/guide.md', 'PATH_TRAVERSAL'],
  ['a linked folder one level down', 'references/folder-outside/secret.txt', 'PATH_TRAVERSAL'],
  ['a file in a linked sibling', 'folder-sibling/private.md', 'PATH_TRAVERSAL'],
  ['a file in a linked folder inside', 'folder-inside/guide.md', 'PATH_TRAVERSAL'],
  ['the root through a link', 'link-root/etc/passwd', 'PATH_TRAVERSAL'],
  ['a link to here', 'link-self/references/guide.md', 'PATH_TRAVERSAL'],
  ['a link to the parent', 'link-parent/sibling/private.md', 'PATH_TRAVERSAL'],
  ['the environment through a linked folder', 'link-proc/environ', 'PATH_TRAVERSAL'],
  ['a descriptor through a linked folder', 'link-proc/fd/0', 'PATH_TRAVERSAL'],
  ['a FIFO', 'fifo', 'RESOURCE_NOT_FOUND'],
  ['something below a FIFO', 'fifo/x', 'RESOURCE_NOT_FOUND'],
  ['a socket', 'socket', 'RESOURCE_NOT_FOUND'],
  ['a folder', 'references', 'RESOURCE_NOT_FOUND'],
  ['something below a file', 'references/guide.md/x', 'RESOURCE_NOT_FOUND'],
];
