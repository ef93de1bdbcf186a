import { resolve } from 'node:path';
import { EXIT, type ExitStatus, type Options } from '../../../../../lib/command-line/index.ts';
import { listed, plural, showName, toWireDeep } from '../../../../../lib/text/index.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import type { Published } from './types.ts';

export async function publish(
  ids: readonly string[],
  options: Options & { readonly to: string },
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  const { registry } = await terminal.openRegistry(options, { presets: false });
  const to = resolve(terminal.cwd, options.to);
  const publishing = registry.origin.publish({ to, ids: ids.length === 0 ? undefined : ids });
  const published = await terminal.during('Publishing skills', publishing);
  const { skills, refused } = published;
  const rows = skills.map(({ name, type, bytes, changed }) => [name, type, bytes, changed ? 'new' : 'as it was']);
  terminal.print(toWireDeep(published), () => terminal.table(['SKILL', 'TYPE', 'BYTES', ''], rows));
  for (const line of publishedLines(published)) terminal.say(line);
  return refused.length > 0 ? EXIT.problem : EXIT.done;
}

// --- internal ---

function publishedLines({ to, skills, inIndex, parts, refused, notOfRoot, removed }: Published): readonly string[] {
  const lines = refused.map(({ skillId, reason }) => `Not published: ${skillId}: ${reason}.`);
  for (const { name, leftOut } of skills)
    if (leftOut > 0) lines.push(`${name}: left out: ${plural(leftOut, 'private path')}.`);
  for (const { name, links } of skills)
    if (links.length > 0)
      lines.push(`${name}: left out, because links are not followed: ${listed(links.map(showName))}.`);
  if (notOfRoot.length > 0)
    lines.push(`Not published: ${plural(notOfRoot.length, 'skill')} of other roots; name those that are to be.`);
  if (removed.length > 0) lines.push(`No longer published: ${listed(removed.map(showName))}.`);
  if (parts > 0)
    lines.push(
      `Other programs see ${inIndex} of the ${skills.length} skills, because index.json has no room for more. This registry sees all of them: they are named in ${parts} parts of the index beside it.`,
    );
  return [
    ...lines,
    `${plural(skills.length, 'skill')} in ${to}. Serve this folder with any web server. On other machines: skill-registry add https://..., or sources: [{ wellKnown: https://... }]`,
  ];
}
