import { join } from 'node:path';
import { digestOf } from '../../../../lib/digest/index.ts';
import { countTokens } from '../../../../lib/text/index.ts';
import { openTrust, type Trust } from '../../../../lib/trust/index.ts';
import { confusableIds } from '../../core/catalog/confusable-ids.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { bodyOf } from '../../core/skill/frontmatter.ts';
import type { Finding } from '../../core/skill/guard.ts';
import type { SkillHeader } from '../../core/skill/parse-skill.ts';
import { decide, type Inspected, isAllowed } from '../guard/approvals.ts';
import { asReadForInspection } from '../guard/files-for-inspection.ts';
import { type InspectedSkill, inspectFiles } from '../guard/inspect-files.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { textProblems } from '../history/changed-text.ts';
import { folderOf, type SkillLocation } from '../history/skill-location.ts';
import { originOf, pageIn, sourceKey } from './address.ts';
import { skillBlocked } from './errors.ts';
import type { InstallContext } from './open-origin.ts';
import type { IncomingFile, OriginSkillFiles } from './opened-origin.ts';
import type { planLinks } from './places.ts';
import type { AddPlan, ChangedSkill, SkillToAdd } from './types.ts';
import { type SkillToWrite, writeSkills } from './write-skill.ts';

/** The digest equals what `approvals show` reports once the files are written. */
export function inspectIncoming(files: readonly IncomingFile[]): Promise<InspectedSkill> {
  return inspectFiles(() => asReadForInspection(files));
}

/** For `allowBlock`; undefined when nothing blocks the files, or they are already allowed. */
export function blockedAs(id: string, looked: SkillToWrite['looked'], trust: Trust = openTrust()): string | undefined {
  const blocked = looked.filter((one) => isBlocked(contentOf('', one), trust));
  const digests = looked.map(({ digest }) => digest);
  if (blocked.length === 0) return undefined;
  return `${id}@${digests.length === 1 ? digests[0] : digestOf(digests.join('\n'))}`;
}

export function withoutRepeated(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
}

export interface PlannedSkill {
  readonly view: SkillToAdd;
  readonly write: SkillToWrite;
}

/** @param along - `ids`: all skills of the plan; `isAlong`: another skill requires this one; `links`: default none. */
export async function planSkill(
  context: ChangeContext,
  { header, files, leftOut }: OriginSkillFiles & { readonly header: SkillHeader },
  write: Pick<SkillToWrite, 'location' | 'kind' | 'origin' | 'lock'>,
  along: { readonly ids: readonly string[]; readonly isAlong: boolean; readonly links?: ReturnType<typeof planLinks> },
): Promise<PlannedSkill> {
  const { skillId: id, profile } = write.location;
  const { byId, skills } = context.snapshot();
  const looked = [await inspectIncoming(files)] as const;
  const text = files.find(({ path }) => path === 'SKILL.md')?.bytes.toString('utf8') ?? '';
  const folder = folderOf(write.location);
  const named = { id, file: join(folder, 'SKILL.md') };
  const confusable = await confusableIds([...skills.filter((one) => one.id !== id), named]);
  const view = {
    id,
    name: header.name,
    description: header.description,
    tokens: await countTokens(bodyOf(text)),
    files: files.map(({ path, bytes }) => ({ path, size: bytes.length })),
    leftOut,
    scripts: files.filter(isScript).map(({ path }) => path),
    allowedTools: header.allowedTools,
    requires: header.requires,
    missing: header.requires.filter((one) => !byId.has(one) && !along.ids.includes(one)),
    alongWith: along.isAlong,
    folder,
    links: along.links?.links ?? [],
    notLinked: along.links?.notLinked ?? [],
    collides: collisionWith(context, write.location),
    findings: looked[0].inspection.findings,
    reach: looked[0].inspection.reach,
    blocked: blockedAs(id, looked),
    problems: [...textProblems(text, id, profile), ...confusable.filter(({ file }) => file === named.file)],
  };
  return { view, write: { ...write, files, looked } };
}

/** Records the decisions of `allowBlock` before it writes, so if recording fails, nothing is written. */
export function applyOf(
  context: InstallContext,
  writes: readonly SkillToWrite[],
  write: typeof writeSkills = writeSkills,
): AddPlan['apply'] {
  return async (actor, { allowBlock = [] } = {}) => {
    // Minutes may have passed since the plan.
    const from = writes.flatMap(({ lock, location, looked }) => {
      const origin = lock && originOf(lock.entry, context.root);
      return origin ? [{ origin, source: sourceKey(origin), id: location.skillId, looked }] : [];
    });
    for (const { origin, source, id } of from) await context.assertMayCome(source, id, pageIn(origin));
    const { taken, refused } = letIn(writes, actor, allowBlock);
    const isTaken = new Set(taken.map(({ location }) => location.skillId));
    for (const { source, id, looked } of from)
      if (isTaken.has(id)) for (const { digest } of looked.slice(0, 1)) context.came(digest, source);
    const changed: readonly ChangedSkill[] = taken.length === 0 ? [] : await write(context, taken, actor);
    if (refused.length > 0) throw skillBlocked(refused, changed);
    return changed;
  };
}

// --- internal ---

function letIn(
  writes: readonly SkillToWrite[],
  { by, reason }: Parameters<AddPlan['apply']>[0],
  allowBlock: readonly string[],
): { readonly taken: readonly SkillToWrite[]; readonly refused: Parameters<typeof skillBlocked>[0] } {
  const wrong = allowBlock.find((name) => !/.@sha256:[0-9a-f]{64}$/.test(name));
  if (wrong !== undefined)
    throw invalidArgument(`What is let in is <id>@sha256:<64 hex digits>, got ${JSON.stringify(wrong.slice(0, 200))}.`);
  if (allowBlock.length > 0 && !by.startsWith('person:'))
    throw invalidArgument(`Only a person lets in what looks like an attack, and ${JSON.stringify(by)} is none.`);
  const trust = openTrust();
  const taken: SkillToWrite[] = [];
  const refused: Parameters<typeof skillBlocked>[0][number][] = [];
  for (const skill of writes) {
    const { location, looked, origin } = skill;
    const blocked = blockedAs(location.skillId, looked, trust);
    const contents = looked.map((one) => contentOf(folderOf(location), one)).filter((one) => isBlocked(one, trust));
    if (blocked === undefined) taken.push(skill);
    else if (allowBlock.includes(blocked)) {
      for (const one of contents) decide(trust, 'allow', one, { by, reason: reason ?? `let in from ${origin}` });
      taken.push(skill);
    } else {
      const findings = withoutRepeated(contents.flatMap((one) => one.findings));
      refused.push({ skillId: location.skillId, allowBlock: blocked, findings });
    }
  }
  return { taken, refused };
}

function isBlocked(content: ReturnType<typeof contentOf>, trust: Trust): boolean {
  return content.findings.length > 0 && !isAllowed(trust, content);
}

/** Incoming files are allowed by their bytes, not by their path. */
function contentOf(
  path: string,
  { digest, inspection }: InspectedSkill,
): Inspected & { readonly findings: readonly Finding[] } {
  const findings = inspection.findings.filter(({ level }) => level === 'block');
  return { path, digest, broughtIn: true, findings };
}

function collisionWith(context: ChangeContext, { skillId, source }: SkillLocation): string | undefined {
  const there = context.snapshot().byId.get(skillId);
  if (!there) return undefined;
  const other = `The skill ${there.qualifiedId} has this id as well`;
  if (context.collision === 'error') return `${other}, so agents will see neither of them (collision: error).`;
  const order = context.sources().map(({ id }) => id);
  const isFirst = order.indexOf(source) < order.indexOf(there.source);
  return isFirst === (context.collision === 'first')
    ? `${other}: agents will see the new skill, and can read the other skill only by that name.`
    : `${other} and comes first: agents will not see the new one under its id.`;
}

function isScript({ path, executable, bytes }: IncomingFile): boolean {
  const isCalledSo = /\.(sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|ps1|bat|cmd|exe)$/i.test(path);
  return executable || isCalledSo || bytes.subarray(0, 2).toString() === '#!';
}
