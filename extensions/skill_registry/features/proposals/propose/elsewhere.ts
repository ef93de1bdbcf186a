import { join } from 'node:path';
import { isCodedError, type TurnContext } from 'skill-registry/kernel';
import { skillNamed } from '../../../core/catalog/snapshot.ts';
import type { Core } from '../../../core/feature.ts';
import { wasBrought } from '../../../core/read/read-file.ts';
import type { SkillSource } from '../../../core/sources/source.ts';
import { withJudgedErrors } from '../../history/change-context.ts';
import { writeDenied } from '../../history/errors.ts';
import { decodeText, type SkillLocation } from '../../history/skill-location.ts';
import { checkWords } from './propose.ts';
import { changeOf } from './request.ts';
import { turnOffWarning } from './turned-off.ts';
import type { ProposalInput, ProposalReceipt } from './types.ts';

/**
 * The change of a skill whose source takes proposals, made and checked with the text that is here. Undefined for every
 * other skill. @throws as `Proposals.propose` and `SkillSource.propose`.
 */
export async function proposeElsewhere(
  core: Pick<Core, 'admit' | 'catalog' | 'config' | 'root' | 'scopes'>,
  input: ProposalInput,
  turn: TurnContext | undefined,
): Promise<ProposalReceipt | undefined> {
  const { catalog, config, root, scopes } = core;
  const { skillId, kind = 'update', justification, evidence } = input;
  const find = () =>
    turn ? scopes.find(skillId, turn) : { skill: skillNamed(catalog.snapshot(), skillId), refusal: undefined };
  const listed = find();
  const source = catalog.sources().find(({ id }) => id === listed.skill?.source);
  if (kind !== 'update' || !listed.skill || listed.refusal || !source?.propose) return undefined;
  if (turn && config.writes.update === 'deny') throw writeDenied('update');
  checkWords(input);
  await wasBrought(catalog, listed.skill, turn ? 'model' : 'person');
  const { skill, refusal } = find();
  if (!skill || refusal || skill.source !== source.id) throw scopes.notFound(skillId, turn);
  // Nothing is written there: its folder is for checks of names alone.
  const location: SkillLocation = {
    skillId: skill.id,
    source: source.id,
    key: skill.qualifiedId,
    base: join(root, 'skills'),
    below: skill.id,
    skillFile: 'SKILL.md',
    validation: config.validation,
  };
  const context = { ...core, snapshot: () => catalog.snapshot() };
  const { path, before, after } = await withJudgedErrors(context, skillId, turn, (quotes) =>
    changeOf(input, location, (path) => fileOf(source, skill, path, config.limits), config.limits, quotes),
  );
  const agent = input.author === undefined ? turn?.agentId : /^agent:(.+)$/s.exec(input.author)?.[1];
  const content = after && decodeText(after, path);
  const words = { justification, evidence, agent, model: turn?.model };
  const { id: proposalId, state, message } = await source.propose(skill, { path, content, ...words });
  const warning = path === location.skillFile ? turnOffWarning(skill.id, before, after) : undefined;
  const receipt = { proposalId, file: '', state: state === 'waiting' ? 'open' : state } as const;
  return { ...receipt, ...(message === undefined ? {} : { message }), ...(warning === undefined ? {} : { warning }) };
}

// --- internal ---

function fileOf(
  source: SkillSource,
  skill: Parameters<SkillSource['readSkill']>[0],
  path: string,
  { file_bytes, resource_bytes }: Core['config']['limits'],
): Buffer | null {
  try {
    return path === 'SKILL.md' ? source.readSkill(skill, file_bytes) : source.readResource(skill, path, resource_bytes);
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_NOT_FOUND') && path !== 'SKILL.md') return null;
    throw error;
  }
}
