import type { Problem } from 'skill-registry/kernel';
import { shorten } from '../../../lib/text/index.ts';
import type { Skill } from '../skill/skill.ts';
import { type Snapshot, skillNamed } from './snapshot.ts';

/** What is wrong with what skills require of each other: REQUIRES_UNKNOWN, REQUIRES_SELF, REQUIRES_CYCLE. */
export function requiresProblems(skills: Named): readonly Problem[] {
  const some = [...skills.byQualifiedId.values()].filter(({ requires }) => requires.length > 0);
  if (some.length === 0) return [];
  const edges = new Map(
    some.map((skill) => [skill, new Set(skill.requires.flatMap((id) => skillNamed(skills, id) ?? []))]),
  );
  return [...some.flatMap((skill) => wrongIds(skill, skills, edges)), ...cycles(edges)];
}

// --- internal ---

type Named = Pick<Snapshot, 'byId' | 'byQualifiedId' | 'builtIn'>;
type Edges = ReadonlyMap<Skill, ReadonlySet<Skill>>;

/** So many ids are named; a skill may hold thousands. */
const MAX_NAMED = 5;

function wrongIds(skill: Skill, skills: Named, edges: Edges): readonly Problem[] {
  const unknown = [...new Set(skill.requires)].filter((id) => skillNamed(skills, id) === undefined);
  const more = unknown.length > MAX_NAMED ? ` and ${unknown.length - MAX_NAMED} more` : '';
  const named = unknown.slice(0, MAX_NAMED).map((id) => JSON.stringify(shorten(id, 80)));
  const lacks = `It requires ${named.join(', ')}${more}, and there is no such skill. Correct "requires", or add the skill.`;
  const itself = 'It requires itself. Remove its own id from "requires".';
  return [
    ...(unknown.length > 0 ? [problem('REQUIRES_UNKNOWN', skill, lacks)] : []),
    ...(edges.get(skill)?.has(skill) ? [problem('REQUIRES_SELF', skill, itself)] : []),
  ];
}

/** One problem for each circle that is found; without it nothing else of it is left. Not recursive: a chain may be long. */
function cycles(edges: Edges): readonly Problem[] {
  const problems: Problem[] = [];
  const done = new Set<Skill>();
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
      if (next.done) {
        open.pop();
        const left = path.pop() as Skill;
        onPath.delete(left);
        done.add(left);
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
