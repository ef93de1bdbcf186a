import { stripVTControlCharacters } from 'node:util';
import type { Skill, SkillContent, Snapshot } from 'skill-registry';
import { CodedError } from 'skill-registry/kernel';
import { hasColour, printable, showName, toWire } from '../../lib/text/index.ts';
import { openRegistry } from '../open-registry.ts';
import { EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal } from '../terminal.ts';

export interface ShowFlags {
  readonly resource?: string;
  /** Below references/. */
  readonly reference?: string;
  /** Below scripts/. */
  readonly script?: string;
  readonly raw?: boolean;
  readonly revision?: string;
}

/** `skill-registry show <id>` */
export async function show(id: string, flags: GlobalOptions & ShowFlags, terminal: Terminal): Promise<ExitStatus> {
  const options = { ...flags, ...fileOf(flags) };
  const { registry } = await openRegistry(options, terminal);
  if (options.revision !== undefined) {
    const bytes = await registry.history.read(id, options.revision, options.resource);
    const text = Buffer.from(bytes).toString('utf8');
    if (options.json)
      printJson(terminal, { skill_id: id, revision: options.revision, content: text, size: bytes.length });
    else if (terminal.terminal) printText(text, terminal);
    else terminal.out(bytes);
    return EXIT.done;
  }
  if (options.resource !== undefined) {
    const resource = await registry.readResource(id, options.resource);
    if (options.json) printJson(terminal, toWire(resource));
    else if (resource.encoding === 'utf-8') printText(resource.content, terminal);
    else if (!terminal.terminal) terminal.out(Buffer.from(resource.content, 'base64'));
    else terminal.err(`${resource.path} is binary (${resource.size} bytes); send it to a file: > name\n`);
    sayHeld(resource, terminal);
    return EXIT.done;
  }
  const skill = await registry.read(id, { view: options.raw ? 'raw' : 'body' });
  const listed = skillOf(registry.snapshot(), id);
  if (options.json) {
    printJson(terminal, { ...toWire(skill), ...(listed ? fieldsOf(listed, skill) : {}) });
    return EXIT.done;
  }
  if (terminal.terminal && !options.raw) await printMarkdown(skill.content, terminal);
  else printText(skill.content, terminal);
  const files = skill.resources.map(({ path, size }) => `\n  ${showName(path)} (${size} bytes)`).join('');
  const leftOut = skill.resourcesLeftOut ?? 0;
  const kept =
    leftOut > 0 ? `\n${leftOut} more file(s) or folder(s) are never handed out: .env, .git, keys, data/` : '';
  terminal.err(
    `\n${printable(skill.message)}${skill.hint ? `\n${printable(skill.hint)}` : ''}${files ? `\nFiles:${files}` : ''}${kept}\n`,
  );
  sayHeld(skill, terminal);
  if (listed?.disabledFor === 'everyone')
    terminal.err(`Disabled, no agent is given it; to enable it: skill-registry enable ${printable(id)}\n`);
  if (listed?.hiddenBecause) terminal.err(`Models do not see it here: ${printable(listed.hiddenBecause)}\n`);
  return EXIT.done;
}

// --- internal ---

/** Characters, as on the review page. */
const MAX_RENDERED = 128 * 1024;

/** The path of the requested file. @throws INVALID_ARGUMENT when more than one is given. */
function fileOf({ resource, reference, script }: ShowFlags): Pick<ShowFlags, 'resource'> {
  const given = [
    resource,
    reference === undefined ? undefined : `references/${reference}`,
    script === undefined ? undefined : `scripts/${script}`,
  ].filter((path) => path !== undefined);
  const [path] = given;
  if (given.length > 1) throw new CodedError('INVALID_ARGUMENT', 'Give one of --resource, --reference and --script.');
  return path === undefined ? {} : { resource: path };
}

/** The skill that `read` finds for this id. */
function skillOf({ byId, byQualifiedId }: Snapshot, id: string): Skill | undefined {
  return byId.get(id) ?? byQualifiedId.get(id);
}

/** Fields of a skill that `read` does not give; null when the author has not set one. */
function fieldsOf(skill: Skill, read: Pick<SkillContent, 'heldBecause'>): Readonly<Record<string, unknown>> {
  return {
    qualified_id: skill.qualifiedId,
    version: skill.version ?? null,
    author: skill.author ?? null,
    license: skill.license ?? null,
    compatibility: skill.compatibility ?? null,
    arguments: skill.arguments,
    argument_hint: skill.argumentHint ?? null,
    metadata: skill.metadata,
    trigger_keywords: skill.triggerKeywords,
    hidden_because: skill.hiddenBecause ?? null,
    held_because: read.heldBecause ?? null,
    file: skill.file,
  };
}

/** Of exactly the bytes that were shown. */
function sayHeld({ skillId, heldBecause }: Pick<SkillContent, 'skillId' | 'heldBecause'>, terminal: Terminal): void {
  if (heldBecause === undefined) return;
  const id = printable(skillId);
  terminal.err(`Held, no agent is given it: ${printable(heldBecause)}; see skill-registry trust show ${id}\n`);
}

/** A text that is too long, or takes too long, is shown as it is. */
async function printMarkdown(text: string, terminal: Terminal): Promise<void> {
  const { renderMarkdown } = await import('../../lib/terminal/index.ts');
  const width = Math.min(terminal.columns ?? 80, 100);
  const rendered = text.length <= MAX_RENDERED ? await renderMarkdown(text, width) : undefined;
  if (rendered === undefined) {
    printText(text, terminal);
    return;
  }
  terminal.out(`${hasColour(terminal.environment) ? rendered : stripVTControlCharacters(rendered)}\n`);
}

/** Control characters are only escaped when the output is a terminal. */
function printText(text: string, terminal: Terminal): void {
  const shown = terminal.terminal ? printable(text) : text;
  terminal.out(shown.endsWith('\n') ? shown : `${shown}\n`);
}
