import type { TurnContext } from 'skill-registry/kernel';
import { splitFrontmatter } from '../../../core/skill/frontmatter.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import { fieldAt } from '../../../core/skill/yaml-fields.ts';
import type { ChangeContext } from '../../history/change-context.ts';
import { parsedText } from '../../history/changed-text.ts';
import { getBlob, lastRevision } from '../../history/revisions.ts';
import { folderOf, locationOfSkill } from '../../history/skill-location.ts';
import { readFolderTree, treeDigest } from '../../history/skill-tree.ts';
import { rowOf } from './proposal-store.ts';

/** With this field no model sees the skill, not even the agent that proposed it. */
const FIELD = 'disable-model-invocation';

/** undefined for any proposal that does not turn the skill off. */
export function turnOffWarning(skillId: string, before: Buffer | null, after: Buffer | null): string | undefined {
  const text = after?.toString('utf8') ?? '';
  if (!after || isOff(after, skillId) !== true || (before && isOff(before, skillId) === true)) return undefined;
  const line = fieldLine(text)?.text ?? '';
  // The author wrote the comment behind the value, and nobody has judged it.
  const removed = line.trim() === `${FIELD}: true` ? JSON.stringify(line) : 'the whole line with its end';
  return `Once this is approved, no model sees the skill any more, nor do you: it sets ${FIELD}. As long as nothing else changes it afterwards, you can propose exactly the removal of that line (old_string ${removed} and an empty new_string), and nothing else.`;
}

/** A skill hidden from this agent only because of its own approved proposal, unchanged since. */
export function skillTurnedOffBy(context: ChangeContext, skillId: string, turn: TurnContext): Skill | undefined {
  const { writer } = context;
  const { skill, refusal } = context.scopes.find(skillId, turn);
  if (!skill || refusal !== 'SKILL_NOT_MODEL_INVOCABLE' || !turn.agentId || !writer.hasHistory()) return undefined;
  const location = locationOfSkill(skill, context.sources(), context.root);
  const database = writer.database();
  const last = lastRevision(database, location.key);
  if (!last?.proposal || last.kind !== 'proposal') return undefined;
  const { author, state, base, path } = rowOf(database, last.proposal);
  if (author !== `agent:${turn.agentId}` || state !== 'approved' || path !== location.skillFile) return undefined;
  if (base !== null && isOff(getBlob(database, base), skill.id) !== false) return undefined;
  const { files } = readFolderTree(folderOf(location), context.limits.file_bytes);
  return treeDigest(files) === last.digest ? skill : undefined;
}

/** Whether only the field's line was removed; a blank line may be left. */
export function turnsOn(skillId: string, before: Buffer | null, after: Buffer | null): boolean {
  if (before === null || after === null) return false;
  const text = before.toString('utf8');
  const line = fieldLine(text);
  if (!line) return false;
  const [start, end] = [text.slice(0, line.from), text.slice(line.from + line.text.length)];
  const isRemoval = [start + end, start + (/\r?\n$/.exec(line.text)?.[0] ?? '') + end].includes(after.toString('utf8'));
  return isRemoval && isOff(after, skillId) === false;
}

// --- internal ---

function isOff(bytes: Buffer, skillId: string): boolean | undefined {
  const { header } = parsedText(bytes.toString('utf8'), skillId);
  return header && !header.modelInvocable;
}

function fieldLine(text: string): { readonly text: string; readonly from: number } | undefined {
  const { yaml = '', bodyOffset } = splitFrontmatter(text);
  let from = text.slice(0, bodyOffset).lastIndexOf(yaml);
  for (const line of yaml.match(/[^\n]*\n/g) ?? []) {
    if (fieldAt([line.trimEnd()], 0)?.key === FIELD) return { text: line, from };
    from += line.length;
  }
  return undefined;
}
