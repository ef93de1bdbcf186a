import { resolve } from 'node:path';
import type { Published } from '../../extensions/skill_registry/host.ts';
import { formatTable, printable, showName, toWire } from '../../lib/text/index.ts';
import { openRegistry } from '../open-registry.ts';
import {
  EXIT,
  type ExitStatus,
  type GlobalOptions,
  printJson,
  type Terminal,
  widthOf,
  withProgress,
} from '../terminal.ts';

export interface PublishFlags {
  readonly to: string;
}

/** `skill-registry publish` */
export async function publish(
  ids: readonly string[],
  options: GlobalOptions & PublishFlags,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const publishing = registry.origin.publish({
    to: resolve(terminal.cwd, options.to),
    ids: ids.length === 0 ? undefined : ids,
  });
  const published = await withProgress('Publishing skills', terminal, publishing);
  const { skills, refused } = published;
  if (options.json)
    printJson(terminal, { ...toWire(published), skills: skills.map(toWire), refused: refused.map(toWire) });
  else {
    const rows = skills.map(({ name, type, bytes, changed }) => [name, type, bytes, changed ? 'new' : 'as it was']);
    terminal.out(`${formatTable(['SKILL', 'TYPE', 'BYTES', ''], rows, widthOf(terminal))}\n`);
  }
  for (const line of publishedLines(published)) terminal.err(`${printable(line)}\n`);
  return refused.length > 0 ? EXIT.problem : EXIT.done;
}

// --- internal ---

function publishedLines({ to, skills, inIndex, parts, refused, notOfRoot, removed }: Published): readonly string[] {
  const leftOut = skills.filter((skill) => skill.leftOut > 0);
  const linking = skills.filter(({ links }) => links.length > 0);
  return [
    ...refused.map(({ skillId, reason }) => `Not published: ${skillId}: ${reason}.`),
    ...leftOut.map(({ name, leftOut: count }) => `${name}: ${count} private file(s) or folder(s) were left out.`),
    ...linking.map(
      ({ name, links }) => `${name}: ${links.length} link(s) were not followed and left out: ${listed(links)}.`,
    ),
    ...(notOfRoot.length > 0
      ? [`${notOfRoot.length} skill(s) that are not of this root were not published; name those that are to be.`]
      : []),
    ...(removed.length > 0 ? [`No longer published: ${listed(removed)}.`] : []),
    ...(parts > 0
      ? [
          `Other programs see ${inIndex} of the ${skills.length} skills, because index.json has no room for more. This registry sees all of them: they are named in ${parts} parts of the index beside it.`,
        ]
      : []),
    `${skills.length} skill(s) in ${to}. Serve this folder with any web server. On other machines: skill-registry add https://..., or sources: [{ wellKnown: https://... }]`,
  ];
}

/** Paths and skills that are named. */
const MAX_NAMED = 10;

function listed(paths: readonly string[]): string {
  const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : '';
  return `${paths.slice(0, MAX_NAMED).map(showName).join(', ')}${more}`;
}
