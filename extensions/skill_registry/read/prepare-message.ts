import type { TurnContext } from 'skill-registry/kernel';
import { showName, withNote } from '../../../lib/text/index.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { skillNamed } from '../catalog/snapshot.ts';
import type { SentBodies } from '../show/sent-bodies.ts';
import { applyMessage } from '../skill/apply-message.ts';
import type { SkillReading } from './reading.ts';
import type { PreparedMessage } from './types.ts';

export async function prepareMessage(
  {
    catalog,
    reading,
    sentBodies,
  }: { readonly catalog: Catalog; readonly reading: SkillReading; readonly sentBodies: SentBodies },
  skillId: string,
  args: string | Readonly<Record<string, string>>,
  turn?: TurnContext,
  { dir }: { readonly dir?: string } = {},
): Promise<PreparedMessage> {
  let count = (): void => {};
  // With a turn, a held or disabled skill is refused: the text goes to an agent.
  const read = await reading.read(skillId, { audience: 'person' }, turn ?? {}, (counted) => {
    count = counted;
  });
  const skill = skillNamed(catalog.snapshot(), read.skillId);
  const known = { names: skill?.arguments ?? [], dir: dir ?? (skill?.dir ? showName(skill.dir) : null) };
  const sent = turn && skill ? sentBodies.apply(skill, turn) : { isInPrompt: false, undo: () => {} };
  const text = applyMessage(read.skillId, read.content, args, known, sent.isInPrompt);
  return {
    message: withNote({ text, leftOut: sent.isInPrompt ? 0 : (read.hiddenLeftOut ?? 0) }),
    settled: (wasReceived) => (wasReceived ? count : sent.undo)(),
  };
}
