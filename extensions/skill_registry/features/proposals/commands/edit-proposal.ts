import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { CodedError, describeError, isCodedError } from 'skill-registry/kernel';
import { actorOf, invalidArgument, type Options } from '../../../../../lib/command-line/index.ts';
import { readContained, readNamedFile } from '../../../../../lib/files/index.ts';
import { printable, shellWord, toWire } from '../../../../../lib/text/index.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import type { EditedProposal, ProposedText } from '../propose/types.ts';
import { sayReportProblem } from './show-proposals.ts';

interface EditOptions extends Options {
  /** Path of a file with the whole new text; `-` reads standard input. */
  readonly from?: string;
}

export async function editProposal(idOrPart: string, options: EditOptions, terminal: CommandTerminal): Promise<void> {
  const { registry } = await terminal.openRegistry(options);
  terminal.print(toWire(await editWaiting(registry, idOrPart, options, terminal)));
}

/** Takes the new text from `--from` or from the editor. */
export async function editWaiting(
  { proposals }: SkillRegistry,
  idOrPart: string,
  options: EditOptions,
  terminal: CommandTerminal,
): Promise<EditedProposal> {
  const { by } = actorOf(options, terminal);
  const { id, path } = await proposals.get(idOrPart);
  // The person prepared the `--from` text from an earlier version: the present version is not compared.
  const proposed = options.from === undefined ? await proposals.text(id) : undefined;
  const text = proposed ? await editedText(proposed, terminal) : await givenText(options.from ?? '-', terminal);
  let edited: EditedProposal;
  try {
    edited = await proposals.edit(id, {
      content: decodeText(text.bytes, 'The new text is not UTF-8.'),
      by,
      version: proposed?.version,
    });
  } catch (error) {
    const file = text.file ?? writeEditFile(path, text.bytes);
    throw withAdvice(error, `Your text is in ${printable(file)}.${nextStep(error, id, file, options)}`);
  }
  text.done?.();
  const resultText = `Edited ${id}; read it with \`skill-registry proposals show ${id}\`, then approve or reject it`;
  terminal.say(edited.changed ? resultText : `Nothing changed in ${id}`);
  sayReportProblem(await proposals.get(id), terminal);
  return edited;
}

export async function importReport(file: string, options: Options, terminal: CommandTerminal): Promise<void> {
  const report = decodeText(reportAt(resolve(terminal.cwd, file), file), `${file} is no UTF-8 text.`);
  const { registry } = await terminal.openRegistry(options);
  const { proposalId } = await registry.proposals.import(report);
  const { skillId, path, state } = await registry.proposals.get(proposalId);
  terminal.print({ proposal_id: proposalId, skill_id: skillId, path, state });
  const next = `It is ${state}, its author is unknown. To read it: skill-registry proposals show ${proposalId}`;
  terminal.say(`Made the proposal ${proposalId} for ${skillId}/${path} of the file. ${next}`);
}

// --- internal ---

/** Larger than any file that a skill may have. */
const MAX_BYTES = 64 * 1024 * 1024;

interface NewText {
  readonly bytes: Buffer;
  /** Undefined for standard input. */
  readonly file?: string;
  /** Removes the temporary file. */
  readonly done?: () => void;
}

async function givenText(from: string, terminal: CommandTerminal): Promise<NewText> {
  if (from === '-') return { bytes: Buffer.from(await terminal.input()) };
  const file = resolve(terminal.cwd, from);
  try {
    return { bytes: readNamedFile(file, MAX_BYTES), file };
  } catch (error) {
    throw invalidArgument(`--from ${from} cannot be read: ${describeError(error)}`);
  }
}

async function editedText(proposed: ProposedText, terminal: CommandTerminal): Promise<NewText> {
  const { VISUAL, EDITOR } = terminal.environment;
  const editor = VISUAL || EDITOR || (terminal.ask ? 'vi' : undefined);
  const instead = `Or give the new text: skill-registry proposals show ${proposed.proposalId} --proposed > FILE, edit FILE, skill-registry proposals edit ${proposed.proposalId} --from FILE`;
  if (editor === undefined) throw invalidArgument(`There is no terminal to edit in. Set $EDITOR. ${instead}`);
  const before = Buffer.from(proposed.content);
  const file = writeEditFile(proposed.path, before);
  const remove = (): void => rmSync(join(file, '..'), { recursive: true, force: true });
  const failure = await runEditor(editor, file, terminal);
  const bytes = readIfThere(file) ?? before;
  if (failure === undefined) return { bytes, file, done: remove };
  const isSame = bytes.equals(before);
  if (isSame) remove();
  const kept = isSame ? '' : ` What was written is in ${file}.`;
  throw invalidArgument(`${failure} Nothing changed.${kept} ${instead}`);
}

/** Returns why it failed. The path is an argument of the shell, so the shell does not interpret it. */
function runEditor(editor: string, file: string, { terminal }: CommandTerminal): Promise<string | undefined> {
  // The editor receives Ctrl-C; this process ignores it.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  const output = terminal ? 'inherit' : process.stderr.fd;
  const child = spawn('/bin/sh', ['-c', `${editor} "$@"`, editor, file], { stdio: ['inherit', output, 'inherit'] });
  return new Promise<string | undefined>((done) => {
    child.on('error', (error) => done(`The editor (${editor}) cannot be started: ${error.message}.`));
    child.on('close', (status, signal) =>
      done(status === 0 ? undefined : `The editor (${editor}) ended with ${signal ?? `status ${status}`}.`),
    );
  }).finally(() => process.off('SIGINT', ignore));
}

/** In a new folder, readable by this user only. */
function writeEditFile(path: string, bytes: Buffer): string {
  const extension = /^\.[A-Za-z0-9]{1,20}$/.exec(extname(path))?.[0] ?? '';
  const file = join(realpathSync(mkdtempSync(join(tmpdir(), 'skill-registry-'))), `proposed${extension}`);
  writeFileSync(file, bytes, { mode: 0o600, flag: 'wx' });
  return file;
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readNamedFile(file, MAX_BYTES);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Larger than a report with the largest difference that may be proposed. */
const MAX_REPORT = 2 * 1024 * 1024;

/** Follows no link: a report from a foreign project could link to a private file. */
function reportAt(path: string, shown: string): Buffer {
  try {
    return readContained(dirname(path), basename(path), MAX_REPORT, { own: true });
  } catch (error) {
    throw invalidArgument(
      `${shown} cannot be read: ${describeError(error)}. Give a regular file of at most ${MAX_REPORT} bytes, and no link.`,
    );
  }
}

function decodeText(bytes: Buffer, otherwise: string): string {
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  throw new CodedError('NOT_TEXT', otherwise);
}

/** Empty when a corrected text would not help. */
function nextStep(error: unknown, id: string, file: string, { root }: Options): string {
  const code = isCodedError(error) ? error.code : '';
  const where = root === undefined ? '' : ` --root ${shellWord(root)}`;
  const again = `skill-registry proposals edit ${id} --from ${shellWord(file)}${where}`;
  if (code === 'PROPOSAL_CHANGED')
    return ` Somebody else has edited the proposal: read their text with skill-registry proposals show ${id} --proposed${where}, bring both together in that file, then: ${again}`;
  if (CORRECTABLE.has(code)) return ` Correct it there, then: ${again}`;
  return TEMPORARY.has(code) ? ` Try again later: ${again}` : '';
}

const CORRECTABLE: ReadonlySet<string> = new Set([
  'INVALID_ARGUMENT',
  'NOT_TEXT',
  'PROPOSAL_CONFLICT',
  'RESOURCE_TOO_LARGE',
  'SKILL_INVALID',
]);
const TEMPORARY: ReadonlySet<string> = new Set(['HISTORY_BUSY', 'STORE_UNAVAILABLE', 'WRITE_FAILED']);

function withAdvice(error: unknown, advice: string): CodedError {
  const code = isCodedError(error) ? error.code : 'UNEXPECTED_FAILURE';
  const message = error instanceof Error ? error.message : String(error);
  return new CodedError(code, `${message}\n${advice}`, {}, error);
}
