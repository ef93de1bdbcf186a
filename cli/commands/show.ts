import { stripVTControlCharacters } from 'node:util';
import type { Skill, SkillContent } from 'skill-registry';
import {
  filePathOf,
  type ShowOptions,
  type CommandTerminal as Terminal,
} from '../../extensions/skill_registry/core/command-line.ts';
import { hasColour, plural, showName, toWire } from '../../lib/text/index.ts';

export async function show(
  id: string,
  options: ShowOptions & { readonly raw?: boolean },
  terminal: Terminal,
): Promise<void> {
  const path = filePathOf(options);
  const { registry } = await terminal.openRegistry(options, { checksArguments: false });
  if (path !== undefined) {
    const resource = await registry.readResource(id, path);
    if (options.json) terminal.print(toWire(resource));
    else if (resource.encoding === 'utf-8') writeWhole(resource.content, terminal);
    else if (!terminal.terminal) terminal.out(Buffer.from(resource.content, 'base64'));
    else terminal.say(`${resource.path} is binary (${resource.size} bytes); send it to a file: > name`);
    sayHeld(resource, terminal);
    return;
  }
  const skill = await registry.read(id, { view: options.raw ? 'raw' : 'body' });
  const { byId, byQualifiedId } = registry.snapshot();
  const listed = byId.get(id) ?? byQualifiedId.get(id);
  const of = listed && !listed.remote ? listed.qualifiedId : undefined;
  const asked = terminal.features.map(({ shown }) => (of === undefined ? undefined : shown?.(registry, of)));
  const parts = await Promise.all(asked);
  const fields = Object.assign({}, ...parts.map((part) => part?.fields));
  if (options.json) return terminal.print({ ...toWire(skill), ...(listed && fieldsOf(listed, skill)), ...fields });
  if (terminal.terminal && !options.raw) await writeMarkdown(skill.content, terminal);
  else writeWhole(skill.content, terminal);
  terminal.say(['', skill.message, ...(skill.hint ? [skill.hint] : [])].join('\n'));
  if (listed && listed.paths.length > 0) terminal.say(`Shown for files like ${listed.paths.map(showName).join(', ')}`);
  if (skill.resources.length > 0) terminal.say('Files:');
  for (const { path: file, size } of skill.resources) terminal.say(`  ${showName(file)} (${size} bytes)`);
  const leftOut = skill.resourcesLeftOut ?? 0;
  if (leftOut > 0) terminal.say(`Never handed out: ${plural(leftOut, 'more path')} (.env, .git, keys, data/)`);
  for (const line of parts.flatMap((part) => part?.lines ?? [])) terminal.say(line);
  sayHeld(skill, terminal);
  if (listed?.disabledFor === 'everyone')
    terminal.say(`Disabled, no agent is given it; to enable it: skill-registry disable ${id} --off`);
  if (listed?.hiddenBecause) terminal.say(`Models do not see it here: ${listed.hiddenBecause}`);
}

// --- internal ---

/** Equal to the limit of the review page. */
const MAX_RENDERED = 128 * 1024;

/** Adds what `read` does not return; null when the author set no value. */
function fieldsOf(skill: Skill, read: Pick<SkillContent, 'heldBecause'>): Readonly<Record<string, unknown>> {
  const { qualifiedId, arguments: names, metadata, triggerKeywords, paths, file } = skill;
  const { version = null, author = null, license = null, compatibility = null } = skill;
  const { argumentHint = null, hiddenBecause = null } = skill;
  const ofAuthor = {
    version,
    author,
    license,
    compatibility,
    arguments: names,
    argumentHint,
    metadata,
    triggerKeywords,
    paths,
  };
  return toWire({ qualifiedId, ...ofAuthor, hiddenBecause, heldBecause: read.heldBecause ?? null, file });
}

function sayHeld({ skillId, heldBecause }: Pick<SkillContent, 'skillId' | 'heldBecause'>, { say }: Terminal): void {
  if (heldBecause !== undefined)
    say(`Held, no agent is given it: ${heldBecause}; see skill-registry approvals show ${skillId}`);
}

/** Prints a text unchanged when it is too long or takes too long to render. */
async function writeMarkdown(text: string, terminal: Terminal): Promise<void> {
  const { renderMarkdown } = await import('../../lib/terminal/index.ts');
  const width = Math.min(terminal.columns ?? 80, 100);
  const rendered = text.length <= MAX_RENDERED ? await renderMarkdown(text, width) : undefined;
  if (rendered === undefined) writeWhole(text, terminal);
  else terminal.out(`${hasColour(terminal.environment) ? rendered : stripVTControlCharacters(rendered)}\n`);
}

function writeWhole(text: string, { write }: Terminal): void {
  write(text.endsWith('\n') ? text : `${text}\n`);
}
