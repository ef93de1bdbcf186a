import { type Problem, z } from 'skill-registry/kernel';
import { withDeadline } from '../../../../kernel/host.ts';
import { assertReadable } from '../../../../lib/files/index.ts';
import { foldLine } from '../../../../lib/text/index.ts';
import type { Skill } from '../../skill/skill.ts';
import { isUsableId } from '../make-skill.ts';
import type { PackScopes, SkillListing, SkillSource } from '../source.ts';
import { createOwnSkills } from '../source.ts';
import { withoutPrivate } from '../walk/list-files.ts';
import { underSource } from './group-source.ts';

/** A scan of somebody else's source that takes longer has failed; the catalog keeps what it had of it. */
const SCAN_MS = 10_000;

/**
 * A source of somebody else's, under an id of ours: its skills carry that id, and it is handed back what it gave. Nothing it
 * gives is trusted: texts that reach prompts are made safe for them, what has the wrong type is left out, a skill without a
 * usable id or a digest is a problem (SKILL_ID_INVALID), and a scan has ten seconds.
 */
export function adoptSource(source: SkillSource, id: string, scanMs: number = SCAN_MS): SkillSource {
  const own = createOwnSkills<Skill>();
  const listing = (skill: Skill): SkillListing => {
    const found = own.find(skill);
    return withoutPrivate(found ? attempt(() => resourcesShape.parse(source.resources(found)), []) : []);
  };
  return {
    id,
    kind: foldLine(String(source.kind)),
    location: String(source.location),
    async scan(limits, takeBreak) {
      const given = scanShape.safeParse(await withDeadline(Promise.resolve(source.scan(limits, takeBreak)), scanMs));
      if (!given.success) throw new TypeError('its scan gave no { skills: [...], problems: [...] }');
      const { skills, losers, problems } = given.data as { skills: Skill[]; losers: Skill[]; problems: Problem[] };
      const known = new Map<string, Skill>();
      const wrong: Problem[] = [];
      const adopt = (given: Skill): Skill[] => {
        const skill = adopted(given, source.id, id);
        if (!skill || known.has(skill.qualifiedId)) {
          wrong.push(unusable(given, String(source.location)));
          return [];
        }
        known.set(skill.qualifiedId, given);
        return [skill];
      };
      const scan = { skills: skills.flatMap(adopt), losers: losers.flatMap(adopt), problems: [...problems, ...wrong] };
      own.replace(known);
      return scan;
    },
    readSkill: (skill, maxBytes) => source.readSkill(own.get(skill), maxBytes),
    resources: (skill) => listing(skill).files,
    listing,
    readResource(skill, path, maxBytes) {
      assertReadable(path.split('/'), path);
      return source.readResource(own.get(skill), path, maxBytes);
    },
    watchFolders: () => attempt(() => z.array(z.string()).parse(source.watchFolders()), []),
    scopes: () => attempt(() => scopesShape.parse(source.scopes?.()), undefined),
    contains: (path) => attempt(() => source.contains(path) === true, false),
  };
}

// --- internal ---

/** A copy, as JSON has it: what is in the catalog cannot be changed any more, and theirs may be. */
const record = z
  .record(z.string(), z.unknown())
  .transform((given, context) => {
    try {
      return JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
    } catch {
      context.addIssue('no JSON');
      return z.NEVER;
    }
  })
  .catch({});

const problemShape = z.object({
  code: z.string(),
  severity: z.enum(['error', 'warning']),
  file: z.string(),
  message: z.string(),
  line: z.number().optional(),
  details: record.optional(),
});

/** What is no problem in the list of problems is left out. */
const scanShape = z.object({
  skills: z.array(z.unknown()),
  losers: z.array(z.unknown()).default([]),
  problems: z.array(z.unknown()).transform((all) => all.flatMap((one) => problemShape.safeParse(one).data ?? [])),
});

const scopesShape: z.ZodType<PackScopes | undefined> = z
  .object({
    pack: z.string(),
    entry: z.string().optional(),
    states: z.map(z.string(), z.union([z.string(), z.undefined()])),
  })
  .optional();

const resourcesShape = z.array(z.object({ path: z.string(), size: z.number() }));

const text = z.string().transform(foldLine);
const texts = z.array(text).catch([]);

/** A field of the wrong type counts as absent. */
const skillShape = z.object({
  id: z.string().min(1),
  qualifiedId: z.string().min(1),
  digest: z.string().min(1),
  name: text.catch(''),
  description: text.catch(''),
  file: z.string().optional().catch(undefined),
  dir: z.string().nullable().catch(null),
  realFile: z.string().nullable().catch(null),
  bytes: z.number().catch(0),
  tags: texts,
  requires: texts,
  modelInvocable: z.boolean().catch(true),
  userInvocable: z.boolean().catch(true),
  arguments: texts,
  triggerKeywords: texts,
  allowedTools: texts,
  metadata: record,
  extra: record,
  gate: z.object({ os: texts, bins: texts, anyBins: texts, env: texts, config: texts }).optional().catch(undefined),
  pack: z.object({ id: z.string(), path: z.string() }).optional().catch(undefined),
  preload: z.literal(true).optional().catch(undefined),
  argumentHint: text.optional().catch(undefined),
  version: text.optional().catch(undefined),
  author: text.optional().catch(undefined),
  license: text.optional().catch(undefined),
  compatibility: text.optional().catch(undefined),
});

function adopted(given: unknown, before: string, id: string): Skill | undefined {
  const parsed = skillShape.safeParse(given);
  if (!parsed.success || !isUsableId(parsed.data.id)) return undefined;
  const { name, description, file, ...rest } = parsed.data;
  const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as typeof rest;
  const label = name || known.id;
  const skill = { ...known, name: label, description: description || label, file: file ?? known.qualifiedId };
  return underSource({ ...skill, source: before } as Skill, before, id);
}

function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

function unusable(given: unknown, file: string): Problem {
  const { id } = (given ?? {}) as Partial<Skill>;
  const which = typeof id === 'string' ? `a skill ${JSON.stringify(id.slice(0, 80))}` : 'something';
  const message = `The source gave ${which} without a usable id, a qualified id of its own and a digest. Mend the source.`;
  return { code: 'SKILL_ID_INVALID', severity: 'error', file, message };
}
