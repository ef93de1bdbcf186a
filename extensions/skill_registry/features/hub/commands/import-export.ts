import { resolve } from 'node:path';
import { actorOf, EXIT, type ExitStatus, invalidArgument } from '../../../../../lib/command-line/index.ts';
import { plural } from '../../../../../lib/text/index.ts';
import type { CommandTerminal as Terminal } from '../../../core/command-line.ts';
import { grantNamed, readHubConfig } from '../config.ts';
import { exportTree, importTree } from '../team/import-export.ts';
import type { Team } from '../team/team.ts';
import { type HubOptions, openStore, rootOf } from './open-store.ts';

interface TreeOptions extends HubOptions {
  readonly space: string;
  readonly allowBlock?: readonly string[];
}

export async function importSkills(from: string, options: TreeOptions, terminal: Terminal): Promise<ExitStatus> {
  const { space, allowBlock = [] } = options;
  grantNamed({ space, role: 'admin' });
  const root = rootOf(options, terminal);
  const team: Team = {
    space,
    root,
    store: await openStore(options, terminal),
    fourEyes: readHubConfig(root).four_eyes,
  };
  const inspected = new Map(
    allowBlock.map((one) => {
      const [, id, digest] = /^([^@]+)@(sha256:[0-9a-f]{64})$/.exec(one) ?? [];
      if (id && digest) return [id, digest] as const;
      throw invalidArgument('--allow-block takes <id>@<digest>, as the refusal of a skill prints it.');
    }),
  );
  const work = importTree(team, resolve(terminal.cwd, from), { by: actorOf(options, terminal).by, inspected });
  const { published, same, refused } = await terminal.during('importing', work);
  terminal.print({ space, published, same, refused });
  for (const { id, code, message, digest } of refused) {
    const advice = typeof digest === 'string' ? ` --allow-block ${id}@${digest}` : '';
    terminal.say(`error: ${id}: ${code}: ${message}${advice}`);
  }
  const others = `${same} were there already, ${refused.length} were refused`;
  terminal.say(`${plural(published.length, 'skill')} published to the space ${space}; ${others}.`);
  return refused.length === 0 ? EXIT.done : EXIT.problem;
}

export async function exportSkills(to: string, options: TreeOptions, terminal: Terminal): Promise<ExitStatus> {
  const { space } = options;
  const work = exportTree({ store: await openStore(options, terminal), space }, resolve(terminal.cwd, to));
  const { skills, files, damaged } = await terminal.during('exporting', work);
  terminal.print({ space, skills, files, damaged });
  for (const id of damaged) terminal.say(`error: ${id}: what the database has is not what was published.`);
  terminal.say(`${plural(skills, 'skill')} with ${plural(files, 'file')} written to ${to}.`);
  return damaged.length === 0 ? EXIT.done : EXIT.problem;
}
