// One of many reviewers at once, from the built package. argv[2]: { root, ids, n } as JSON. It prints what came of each step.
import { createSkillRegistry } from 'skill-registry';

const { root, ids, n } = JSON.parse(process.argv[2]);
const { proposals, close } = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
const actor = { by: `person:${n}` };
const outcomes = [];

const edit = async (id) => {
  const { content } = await proposals.text(id);
  const part = ids.indexOf(id);
  const text = content.replace(new RegExp(`^Value ${part}: .*$`, 'm'), `Value ${part}: edited by ${n}.`);
  await proposals.edit(id, { content: text, ...actor });
};
const actions = {
  approve: (id) => proposals.approve(id, actor),
  reject: (id) => proposals.reject(id, { ...actor, reason: `No, says ${n}.` }),
  recommend: (id) => proposals.recommend(id, 'approve', { ...actor, reason: `Yes, says ${n}.` }),
  edit,
};
const names = Object.keys(actions);
for (let step = 0; step < ids.length; step++) {
  const id = ids[(step + n) % ids.length];
  // Everything is done to every proposal by somebody: `n` counts half, as it counts whole in the choice of the proposal.
  const action = names[(Math.floor(n / 2) + step) % names.length];
  try {
    await actions[action](id);
    outcomes.push({ id, action, text: `Yes, says ${n}.` });
  } catch (error) {
    outcomes.push({ id, action, failed: error.code ?? String(error.stack) });
  }
}
await close();
process.stdout.write(JSON.stringify(outcomes));
