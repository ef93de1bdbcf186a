import { basename } from 'node:path';
import { digestOf } from '../../../../lib/digest/index.ts';
import { resourceNotFound, resourceTooLarge } from '../../../../lib/files/index.ts';
import { parseSkill } from '../../core/skill/parse-skill.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { presentSource, type SkillSource } from '../../core/sources/source.ts';
import type { HeldSkills } from '../guard/held-skills.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { skillFilesInSlices, treeDigest } from '../history/skill-tree.ts';
import type { RevisionFile } from '../history/types.ts';
import type { EvaluatedContent } from './evaluate-content.ts';
import { type Overlap, proposedSkill } from './overlap/overlap.ts';
import { type ReadSkillFile, readSuite } from './suite.ts';
import type { EvaluationSuite } from './types.ts';

export interface EvaluationSource extends Pick<Overlap, 'firstHits' | 'takenOver'> {
  visible(): readonly Skill[];
  readonly heldSkills: Pick<HeldSkills, 'inspectAfter'>;
}

/** A skill on a server has no test cases here. */
export async function presentSuite(
  context: ChangeContext,
  skill: Skill,
): Promise<{ readonly digest: string; readonly suite: EvaluationSuite; readonly files: readonly RevisionFile[] }> {
  if (skill.remote) {
    const suite = { digest: null, files: [], cases: [], queries: [], problems: [] };
    return { digest: skill.digest, suite, files: [] };
  }
  const source = presentSource(skill, context.sources());
  const files = await skillFilesInSlices(skill, source, context.limits.file_bytes);
  return { digest: treeDigest(files), suite: await readSuite(skill, readerOf(source, skill)), files };
}

export async function presentSubject(
  context: ChangeContext,
  { visible }: EvaluationSource,
  skill: Skill,
): Promise<EvaluatedContent & { readonly files: readonly RevisionFile[] }> {
  const source = presentSource(skill, context.sources());
  const text = source.readSkill(skill, context.limits.file_bytes).toString('utf8');
  const isShown = visible().some(({ qualifiedId }) => qualifiedId === skill.qualifiedId);
  const suite = await presentSuite(context, skill);
  return { ...suite, skill, text, profile: profileOf(source), isShown, isProposed: false };
}

/** @param file - Relative to the skill; null removes it. */
export async function changedSubject(
  context: ChangeContext,
  present: Awaited<ReturnType<typeof presentSubject>>,
  { path, after }: { readonly path: string; readonly after: Buffer | null },
): Promise<EvaluatedContent> {
  const source = presentSource(present.skill, context.sources());
  const isSkillFile = path === basename(present.skill.file);
  const text = isSkillFile && after ? after.toString('utf8') : present.text;
  const { header } = isSkillFile ? parseSkill(text, present.skill.file, present.skill.id) : {};
  const skill = { ...present.skill, ...header };
  const changed = after && { path, digest: digestOf(after), size: after.length, mode: 0o644, kept: true };
  const others = present.files.filter((file) => file.path !== path);
  const files = [...others, ...(changed ? [changed] : [])].sort((a, b) => (a.path < b.path ? -1 : 1));
  const suite = await readSuite(skill, (wanted, maxBytes) => {
    if (wanted !== path) return readerOf(source, present.skill)(wanted, maxBytes);
    if (after === null) throw resourceNotFound(path);
    if (after.length > maxBytes) throw resourceTooLarge(path, after.length, maxBytes);
    return after;
  });
  const { profile } = present;
  const digest = treeDigest(files);
  return { skill, text, digest, suite, profile, isShown: isShownWith(skill), isProposed: isSkillFile };
}

export async function newSubject(
  context: ChangeContext,
  { skillId, source }: { readonly skillId: string; readonly source: string },
  after: Buffer,
): Promise<EvaluatedContent | undefined> {
  const text = after.toString('utf8');
  const skill = proposedSkill(skillId, text);
  if (!skill) return undefined;
  const digest = treeDigest([{ path: 'SKILL.md', digest: skill.digest, size: after.length, mode: 0o644, kept: true }]);
  const suite = await readSuite(skill, (path) => {
    throw resourceNotFound(path);
  });
  const found = context.sources().find(({ id }) => id === source);
  return { skill, text, digest, suite, profile: profileOf(found), isShown: isShownWith(skill), isProposed: true };
}

// --- internal ---

function readerOf(source: SkillSource, skill: Skill): ReadSkillFile {
  return (path, maxBytes) => source.readResource(skill, path, maxBytes);
}

/** At least the rules of the standard, because other tools apply them. */
function profileOf(source: SkillSource | undefined): EvaluatedContent['profile'] {
  return source?.writing?.profile?.name === 'strict' ? 'strict' : 'spec';
}

function isShownWith({ modelInvocable, hiddenBecause, disabledFor, heldBecause }: Skill): boolean {
  return modelInvocable && hiddenBecause === undefined && disabledFor !== 'everyone' && heldBecause === undefined;
}
