import { join } from 'node:path';
import { isCodedError, type TurnContext } from 'skill-registry/kernel';
import { skillNamed } from '../../../core/catalog/snapshot.ts';
import type { Core } from '../../../core/feature.ts';
import { wasBrought } from '../../../core/read/read-file.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import type { SkillSource } from '../../../core/sources/source.ts';
import { assertFree, withJudgedErrors } from '../../history/change-context.ts';
import { writeDenied } from '../../history/errors.ts';
import { decodeText, takesNew } from '../../history/skill-location.ts';
import { checkWords } from './propose.ts';
import { changeOf, checkDeletion, noFileYet, type Request } from './request.ts';
import { turnOffWarning } from './turned-off.ts';
import type { ProposalInput, ProposalReceipt } from './types.ts';

type Elsewhere = Pick<Core, 'admit' | 'catalog' | 'config' | 'profile' | 'root' | 'scopes'>;

/**
 * For a skill whose source has others decide, and a new one where such a source stands before each folder that may be
 * written: the change, made and checked with the text that is here. Undefined for every other skill.
 * @throws as `Proposals.propose` and `SkillSource.propose`.
 */
export async function proposeElsewhere(
  core: Elsewhere,
  input: ProposalInput,
  turn: TurnContext | undefined,
): Promise<ProposalReceipt | undefined> {
  const { catalog, config } = core;
  const { skillId, kind = 'update', justification, evidence } = input;
  const isNew = kind === 'create';
  const listed = isNew ? {} : found(core, skillId, turn);
  const source = catalog
    .sources()
    .find((one) => (isNew ? takesNew(one) || one.propose : one.id === listed.skill?.source));
  if (listed.refusal || !source?.propose) return undefined;
  if (turn && config.writes[kind] === 'deny') throw writeDenied(kind);
  checkWords(input);
  const changed = await changeFor(core, input, turn, source, listed.skill);
  const agent = input.author === undefined ? turn?.agentId : /^agent:(.+)$/s.exec(input.author)?.[1];
  const { path, before, after, skill } = changed;
  const content = after && decodeText(after, path);
  const words = { justification, evidence, agent, model: turn?.model };
  const offered = { kind, skillId: skill?.id ?? skillId, skill, path, content };
  const { id: proposalId, state, message, where: file } = await source.propose({ ...offered, ...words });
  const warning = path === 'SKILL.md' && kind !== 'delete' ? turnOffWarning(offered.skillId, before, after) : undefined;
  const receipt = { proposalId, file, state: state === 'waiting' ? 'open' : state } as const;
  return { ...receipt, ...(message === undefined ? {} : { message }), ...(warning === undefined ? {} : { warning }) };
}

// --- internal ---

function found({ catalog, scopes }: Elsewhere, skillId: string, turn: TurnContext | undefined) {
  if (turn) return scopes.find(skillId, turn);
  return { skill: skillNamed(catalog.snapshot(), skillId), refusal: undefined };
}

type Changed = Pick<Request, 'path' | 'before' | 'after'> & { readonly skill: Skill | undefined };

async function changeFor(
  core: Elsewhere,
  input: ProposalInput,
  turn: TurnContext | undefined,
  source: SkillSource,
  listed: Skill | undefined,
): Promise<Changed> {
  const { catalog, config, root, scopes } = core;
  const { limits } = config;
  const { skillId, kind } = input;
  const context = { ...core, snapshot: () => catalog.snapshot() };
  if (kind === 'delete') {
    checkDeletion(input);
    return { skill: listed, path: 'SKILL.md', before: null, after: null };
  }
  if (listed) await wasBrought(catalog, listed, turn ? 'model' : 'person');
  else assertFree(context, skillId);
  const { skill, refusal } = listed ? found(core, skillId, turn) : {};
  if (listed && (!skill || refusal || skill.source !== source.id)) throw scopes.notFound(skillId, turn);
  const { id, qualifiedId: key } = skill ?? { id: skillId, qualifiedId: skillId };
  // Nothing is written there: its folder is for checks of names alone.
  const folder = { base: join(root, 'skills'), below: id, skillFile: 'SKILL.md' };
  const location = { skillId: id, source: source.id, key, ...folder, profile: core.profile() };
  const readFile = (path: string) => (skill ? fileOf(source, skill, path, limits) : noFileYet(path));
  const change = await withJudgedErrors(context, skillId, turn, (quotes) =>
    changeOf(input, location, readFile, limits, quotes),
  );
  return { ...change, skill };
}

function fileOf(
  source: SkillSource,
  skill: Skill,
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
