import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { termsOf } from '../../../../../lib/text-index/index.ts';
import { headerText } from '../../../core/search/document.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import type { Neighbourhood } from '../types.ts';

/** Two descriptions compete from this cosine on. */
const ALIKE = 0.5;
/** A term that more than this part of the skills have is not counted, unless at most `MIN_SHARED` have it. */
const MAX_SHARE = 0.2;
const MIN_SHARED = 20;
const MAX_SHARED_WORDS = 5;

/** Densest first; each skill is in at most one group. Compares common words; rare words count more. */
export async function neighbourhoods(skills: readonly Skill[]): Promise<readonly Neighbourhood[]> {
  const vectors = await vectorsOf(skills);
  const near = await neighbours(vectors);
  const density = near.map((others) => [...others.values()].reduce((sum, likeness) => sum + likeness, 0));
  const order = [...near.keys()].filter((at) => (density[at] as number) > 0);
  order.sort((a, b) => (density[b] as number) - (density[a] as number) || a - b);
  const taken = new Set<number>();
  const groups: Neighbourhood[] = [];
  for (const centre of order) {
    if (taken.has(centre)) continue;
    const members = [...(near[centre] as ReadonlyMap<number, number>)].filter(([other]) => !taken.has(other));
    if (members.length === 0) continue;
    members.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const group = [centre, ...members.map(([other]) => other)];
    for (const at of group) taken.add(at);
    const likeness = members.reduce((sum, [, value]) => sum + value, 0) / members.length;
    groups.push({
      skills: group.map((at) => (skills[at] as Skill).id),
      likeness: Number(likeness.toFixed(2)),
      words: sharedWords(group.map((at) => vectors[at] as Vector)),
    });
  }
  return groups.sort((a, b) => b.skills.length * b.likeness - a.skills.length * a.likeness);
}

// --- internal ---

/** Weight by term. */
type Vector = ReadonlyMap<string, number>;

async function vectorsOf(skills: readonly Skill[]): Promise<readonly Vector[]> {
  const frequency = new Map<string, number>();
  const terms: ReadonlySet<string>[] = [];
  for (const skill of skills) {
    await takeBreak();
    const own = new Set(termsOf(headerText(skill)));
    terms.push(own);
    for (const term of own) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  }
  return terms.map((own) => {
    const weights = new Map([...own].map((term) => [term, Math.log(1 + skills.length / (frequency.get(term) ?? 1))]));
    const length = Math.hypot(...weights.values());
    return new Map([...weights].map(([term, weight]) => [term, weight / length]));
  });
}

async function neighbours(vectors: readonly Vector[]): Promise<readonly ReadonlyMap<number, number>[]> {
  const skillsByTerm = new Map<string, number[]>();
  for (const [at, vector] of vectors.entries()) {
    for (const term of vector.keys()) {
      const positions = skillsByTerm.get(term);
      if (positions) positions.push(at);
      else skillsByTerm.set(term, [at]);
    }
  }
  const most = Math.max(MIN_SHARED, vectors.length * MAX_SHARE);
  const near: ReadonlyMap<number, number>[] = [];
  for (const [at, vector] of vectors.entries()) {
    await takeBreak(at, vectors.length);
    const likeness = new Map<number, number>();
    for (const [term, weight] of vector) {
      const others = skillsByTerm.get(term) ?? [];
      if (others.length > most) continue;
      for (const other of others) {
        const product = weight * (vectors[other]?.get(term) ?? 0);
        if (other !== at) likeness.set(other, (likeness.get(other) ?? 0) + product);
      }
    }
    near.push(new Map([...likeness].filter(([, value]) => value >= ALIKE)));
  }
  return near;
}

function sharedWords([first, ...others]: readonly Vector[]): readonly string[] {
  return [...(first ?? [])]
    .filter(([term]) => others.every((vector) => vector.has(term)))
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_SHARED_WORDS)
    .map(([term]) => term);
}
