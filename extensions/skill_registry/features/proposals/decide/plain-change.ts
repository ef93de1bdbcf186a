import { splitFrontmatter } from '../../../core/skill/frontmatter.ts';
import { isSkillFileName } from '../../../core/sources/walk/names.ts';
import type { ChangeContext } from '../../history/change-context.ts';
import type { Check } from '../checks/checks.ts';
import { isWaiting } from '../propose/describe.ts';
import type { ProposalRow } from '../propose/proposal-store.ts';
import { checksOf } from '../propose/propose.ts';
import { type ApplyPlan, presentState } from './apply-or-stale.ts';

export async function whyAlone(context: ChangeContext, row: ProposalRow): Promise<string | null> {
  return isWaiting(row) ? whyPlanAlone(row, presentState(context, row).plan) : 'it is decided';
}

/**
 * Checks the texts again, because what is stored may come from somebody else.
 * @param plan - Undefined: it does not apply.
 * @param files - Paths of the skill. Default: those of its folder.
 */
export async function whyPlanAlone(
  { kind, path }: Pick<ProposalRow, 'kind' | 'path'>,
  plan: ApplyPlan | undefined,
  files?: readonly string[],
): Promise<string | null> {
  if (kind !== 'update' || !isSkillFileName(path)) return 'it changes more than the body of SKILL.md';
  if (!plan) return 'it does not apply any more';
  const { after, current: before, location, merged } = plan;
  if (merged) return 'the file has changed since it was proposed';
  if (!before || !after) return 'it changes more than the body of SKILL.md';
  if (!headOf(before).equals(headOf(after))) return 'it changes the frontmatter';
  const checks = await checksOf({ location, kind, path, before, after, ...(files && { files }) });
  const found = checks.find((one) => one.level !== 'info' || !PLAIN.has(one.kind));
  return found ? found.text : null;
}

// --- internal ---

/** What every change has. A description may also come from the body. */
const PLAIN: ReadonlySet<Check['kind']> = new Set(['tokens', 'validation', 'size']);

/** Everything above the body. */
function headOf(bytes: Buffer): Buffer {
  const text = bytes.toString('utf8');
  return bytes.subarray(0, Buffer.byteLength(text.slice(0, splitFrontmatter(text).bodyOffset)));
}
