import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { CodedError } from 'skill-registry/kernel';
import { invalidArgument, type Options } from '../../../../../lib/command-line/index.ts';
import { futureRealPath, isPlainPath } from '../../../../../lib/files/index.ts';
import { oneLine, printable } from '../../../../../lib/text/index.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import type { ProposedFile } from '../propose/types.ts';

/**
 * Files, HEAD and the index of the person stay as they are. Git runs no hook, filter or signing program and fetches
 * nothing, whatever the files of the repository are.
 */
export async function exportBranch(
  idOrPart: string,
  options: Options & { readonly branch: string | true },
  terminal: CommandTerminal,
): Promise<void> {
  const { registry, trusted, root } = await terminal.openRegistry(options);
  if (!trusted) {
    const why = `Nobody has approved ${root}, so its git repository is not used. See it, then: skill-registry approvals allow.`;
    throw new CodedError('ROOT_NOT_APPROVED', why);
  }
  const proposal = await registry.proposals.get(idOrPart);
  const { id, skillId, justification, author } = proposal;
  const file = await registry.admin.proposedFile(id);
  const plain = id.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+/, '');
  const branch = options.branch === true ? `proposals/${plain}` : options.branch;
  // An agent wrote the reason: no line of it can be a trailer.
  const quoted = printable(justification).replace(/^/gm, '> ');
  const message = `Change ${oneLine(skillId, 60)} as proposed\n\nProposal ${id} of ${oneLine(author, 100)}:\n\n${quoted}\n`;
  const made = await commitOn(root, branch, file, message);
  terminal.print({ proposal_id: id, skill_id: skillId, branch, ...made });
  const { blocks } = await registry.admin.blockFindingsAfter({ proposalId: id });
  if (blocks.length > 0)
    terminal.say(`It looks like an attack: skill-registry proposals show ${id}. Say so in the pull request.`);
  terminal.say(
    `The branch ${branch} has one commit for ${made.path}; nothing else has changed here. Next: git push -u origin ${branch}`,
  );
}

// --- internal ---

/** @returns the commit, and the path of the file in the repository. */
async function commitOn(root: string, branch: string, { folder, path, before, after }: ProposedFile, message: string) {
  const top = topOf(futureRealPath(root));
  if (top === undefined) throw invalidArgument(`${root} does not lie in a git repository.`);
  const temporary = mkdtempSync(join(tmpdir(), 'skill-registry-export-'));
  const git = (args: readonly string[], input: string | Uint8Array = '') => runGit(top, temporary, args, input);
  try {
    const below = relative(top, join(futureRealPath(folder), path))
      .split(sep)
      .join('/');
    if (!isPlainPath(below)) throw invalidArgument(`${join(folder, path)} does not lie in the repository ${top}.`);
    // It prints another name for one such as `@{-1}`, and refuses `HEAD`.
    const named = await git(['check-ref-format', '--branch', branch]).catch(() => '');
    if (named !== `${branch}\n`) throw invalidArgument(`${JSON.stringify(branch)} is no name of a branch.`);
    const parent = (await git(['rev-parse', '--verify', 'HEAD^{commit}'])).trim();
    const [line = ''] = (await git(['ls-tree', '-z', '--full-tree', parent, '--', below])).split('\0');
    const [mode = '', , object = ''] = line.split(/[ \t]/);
    const hash = ['hash-object', '--no-filters', '--stdin'];
    const present = before ? (await git(hash, before)).trim() : '';
    // Else the commit would also have what the person has not committed.
    if (object !== present)
      throw invalidArgument(
        `${below} is not as it was committed last. Commit it first, or put it back, and try again.`,
      );
    await git(['read-tree', parent]);
    const blob = after && (await git([...hash, '-w'], after)).trim();
    const entry = blob ? `${mode || '100644'} ${blob}\t${below}\0` : `0 ${'0'.repeat(parent.length)}\t${below}\0`;
    await git(['update-index', '-z', '--index-info'], entry);
    // A clone of `--filter` has not each file of HEAD.
    const tree = (await git(['write-tree', '--missing-ok'])).trim();
    const changes = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--ignore-submodules=none'];
    if ((await git([...changes, parent, tree])) !== `${below}\0`)
      throw invalidArgument(`${below} takes the place of a file or a submodule in the repository.`);
    const commit = (await git(['commit-tree', tree, '-p', parent, '-F', '-'], message)).trim();
    // Only if there is none of that name.
    await git(['update-ref', '--no-deref', `refs/heads/${branch}`, commit, '0'.repeat(parent.length)]);
    return { commit, path: below };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** No commit can bring a `.git`, but it can bring the files of a bare repository, which git takes where it starts. */
function topOf(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  return dirname(folder) === folder ? undefined : topOf(dirname(folder));
}

const SETTINGS: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'safe.bareRepository=explicit',
];
/** What is missing in a clone of `--filter` would be fetched, by programs that its config names. */
const OFFLINE = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' };
const LIMIT_MS = 60_000;
const MAX_OUTPUT = 64 * 1024 * 1024;

/** Git itself looks for `.git` in `top`, and not above: so it asks whose it is. */
function runGit(top: string, temporary: string, args: readonly string[], input: string | Uint8Array): Promise<string> {
  // biome-ignore lint/style/noProcessEnv: git finds the person's name by it
  const kept = Object.entries(process.env).filter(([name]) => !/^GIT_(?!AUTHOR|COMMITTER|CONFIG)/.test(name));
  const own = { GIT_INDEX_FILE: join(temporary, 'index'), GIT_CEILING_DIRECTORIES: dirname(top), LC_ALL: 'C' };
  const env = { ...Object.fromEntries(kept), ...own, ...OFFLINE };
  const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      ['--literal-pathspecs', ...settings, ...args],
      { cwd: top, env, maxBuffer: MAX_OUTPUT, timeout: LIMIT_MS },
      (error, stdout, stderr) => {
        const why = stderr.trim().split('\n')[0] || error?.message || 'git failed';
        if (error) reject(invalidArgument(`git ${args[0]}: ${oneLine(why, 300)}. No branch was made.`));
        else resolve(stdout);
      },
    );
    child.stdin?.on('error', () => undefined).end(input);
  });
}
