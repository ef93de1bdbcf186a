import { basename, dirname, resolve } from 'node:path';
import { CodedError, describeError } from 'skill-registry/kernel';
import { invalidArgument, type Options } from '../../../../../lib/command-line/index.ts';
import { readContained } from '../../../../../lib/files/index.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';

export async function importReport(file: string, options: Options, terminal: CommandTerminal): Promise<void> {
  const report = textOf(resolve(terminal.cwd, file), file);
  const { registry } = await terminal.openRegistry(options);
  const { proposalId } = await registry.proposals.import(report);
  const { skillId, path, state } = await registry.proposals.get(proposalId);
  terminal.print({ proposal_id: proposalId, skill_id: skillId, path, state });
  const next = `It is ${state}, its author is unknown. To read it: skill-registry proposals show ${proposalId}`;
  terminal.say(`Made the proposal ${proposalId} for ${skillId}/${path} of the file. ${next}`);
}

// --- internal ---

/** Larger than a report with the largest difference that may be proposed. */
const MAX_BYTES = 2 * 1024 * 1024;

/** Follows no link: a report from a foreign project could link to a private file. */
function textOf(path: string, shown: string): string {
  let bytes: Buffer;
  try {
    bytes = readContained(dirname(path), basename(path), MAX_BYTES, { own: true });
  } catch (error) {
    throw invalidArgument(
      `${shown} cannot be read: ${describeError(error)}. Give a regular file of at most ${MAX_BYTES} bytes, and no link.`,
    );
  }
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  throw new CodedError('NOT_TEXT', `${shown} is no UTF-8 text.`);
}
