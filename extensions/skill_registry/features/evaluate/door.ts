import { schema } from '../../../../lib/arguments/index.ts';
import { text } from '../../core/checked-calls.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import { guard } from '../guard/door.ts';
import { proposals } from '../proposals/door.ts';
import { commands } from './commands/index.ts';
import type { Evaluation } from './types.ts';

/** Test cases of skills, evidence, and skills that compete. Needs proposals, the history, the guard and validate. */
export const evaluate: Feature = {
  id: 'evaluate',
  open,
  commands: async () => commands,
};

// --- internal ---

const evaluateOptions = schema((z) => z.strictObject({ outputs: z.string().optional() }).optional());

function open(core: Core): Opened {
  const { later } = core.call;
  const { heldSkills } = core.of(guard);
  const { hasEvidence, run } = core.of(proposals);
  const overlap = async () => (await import('./overlap/overlap.ts')).createOverlap(core);
  const evaluating = <Result>(work: (opened: Evaluation) => Promise<Result>): Promise<Result> =>
    run(async (opened, { context }) => {
      const { createEvaluation } = await import('./evidence.ts');
      const source = { ...(await overlap()), visible: () => core.scopes.visible({}), heldSkills };
      return work(createEvaluation(context, source, opened));
    });
  const proposalEvidence: Evaluation['proposalEvidence'] = (id) => evaluating((opened) => opened.proposalEvidence(id));
  hasEvidence({
    shows: async (id) => (await import('./describe.ts')).describeRan(await proposalEvidence(id)),
    tells: async (id) => ({ ran: (await import('./describe.ts')).factsOfRan(await proposalEvidence(id)) }),
    retrievalEffect: async (...given) => (await overlap()).retrievalEffect(...given),
  });
  return {
    admin: {
      overlap: async () => (await overlap()).overlap(),
      keptQueries: () => core.opened.find(({ keptQueries }) => keptQueries)?.keptQueries,
      evidence: later('admin.evidence(skillId)', [text], (id) => evaluating((opened) => opened.evidence(id))),
      evaluate: later('admin.evaluate(skillId, options)', [text, evaluateOptions], (id, options) =>
        evaluating((opened) => opened.evaluate(id, options)),
      ),
      proposalEvidence: later('admin.proposalEvidence(proposalId)', [text], proposalEvidence),
    },
    reviewPages: async () => (await import('./pages.ts')).evidencePages,
  };
}
