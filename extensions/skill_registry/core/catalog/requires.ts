import type { Problem } from 'skill-registry/kernel';
import { eachWithBreaks, takeBreak } from '../../../../lib/breaks/index.ts';
import { shorten } from '../../../../lib/text/index.ts';
import type { Skill } from '../skill/skill.ts';
import { type Snapshot, skillNamed } from './snapshot.ts';

export async function requiresProblems(skills: Named): Promise<readonly Problem[]> {
  const withRequires = [...skills.byQualifiedId.values()].filter(({ requires }) => requires.length > 0);
  if (withRequires.length === 0) return [];
  const edges = new Map<Skill, ReadonlySet<Skill>>();
  const problems: Problem[] = [];
  await eachWithBreaks(withRequires, (skill) => {
    edges.set(skill, new Set(skill.requires.flatMap((id) => skillNamed(skills, id) ?? [])));
    problems.push(...wrongIds(skill, skills, edges));
  });
  return [...problems, ...(await cycles(edges))];
}

// --- internal ---

type Named = Pick<Snapshot, 'byId' | 'byQualifiedId' | 'builtIn'>;
type Edges = ReadonlyMap<Skill, ReadonlySet<Skill>>;

const MAX_NAMED = 5;

function wrongIds(skill: Skill, skills: Named, edges: Edges): readonly Problem[] {
  const unknown = [...new Set(skill.requires)].filter((id) => skillNamed(skills, id) === undefined);
  const more = unknown.length > MAX_NAMED ? ` and ${unknown.length - MAX_NAMED} more` : '';
  const named = unknown.slice(0, MAX_NAMED).map((id) => JSON.stringify(shorten(id, 80)));
  const unknownMessage = `It requires ${named.join(', ')}${more}, and there is no such skill. Correct "requires", or add the skill.`;
  const selfMessage = 'It requires itself. Remove its own id from "requires".';
  return [
    ...(unknown.length > 0 ? [problem('REQUIRES_UNKNOWN', skill, unknownMessage)] : []),
    ...(edges.get(skill)?.has(skill) ? [problem('REQUIRES_SELF', skill, selfMessage)] : []),
  ];
}

/** One problem for each cycle of a depth-first search. Not recursive, because a chain can be long. */
async function cycles(edges: Edges): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  const done = new Set<Skill>();
  let looked = 0;
  for (const start of edges.keys()) {
    const path: Skill[] = [];
    const onPath = new Set<Skill>();
    const open: Iterator<Skill>[] = [];
    const enter = (skill: Skill): void => {
      path.push(skill);
      onPath.add(skill);
      open.push((edges.get(skill) ?? new Set<Skill>()).values());
    };
    if (!done.has(start)) enter(start);
    for (let next = open.at(-1)?.next(); next; next = open.at(-1)?.next()) {
      if (++looked % 100 === 0) await takeBreak();
      if (next.done) {
        open.pop();
        const skill = path.pop() as Skill;
        onPath.delete(skill);
        done.add(skill);
      } else if (onPath.has(next.value)) {
        const circle = path.slice(path.indexOf(next.value));
        if (circle.length > 1) problems.push(circleProblem(circle));
      } else if (!done.has(next.value)) enter(next.value);
    }
  }
  return problems;
}

function circleProblem(circle: readonly Skill[]): Problem {
  const [first] = circle as readonly [Skill];
  const shown =
    circle.length > 2 * MAX_NAMED
      ? [...circle.slice(0, 2 * MAX_NAMED).map(({ id }) => id), '…']
      : circle.map(({ id }) => id);
  const message = `Skills require each other in a circle: ${[...shown, first.id].join(' -> ')}. Remove one of these from "requires".`;
  return problem('REQUIRES_CYCLE', first, message);
}

function problem(code: string, { file }: Skill, message: string): Problem {
  return { code, severity: 'warning', file, message };
}
