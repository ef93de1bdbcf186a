// Changes a skill in a process of its own, from the built package. argv[2]: { root, action, args, dieAt?, config? } as JSON.
// With dieAt it kills itself at that step; it prints what came of it.
import { createSkillRegistry } from 'skill-registry';

const { root, action, args, dieAt, config = {} } = JSON.parse(process.argv[2]);
const print = (result) => process.stdout.write(`${JSON.stringify(result)}\n`);
let armed = false;
const registry = await createSkillRegistry({
  root,
  config: { sources: [{ path: 'skills' }], ...config },
  onWriteStep(step) {
    if (armed && step === dieAt) process.kill(process.pid, 'SIGKILL');
  },
});
armed = true;
const { proposals, history, management } = registry;
const actor = { by: `person:${process.pid}`, reason: 'Because.' };
const actions = {
  propose: ({ content }) => proposals.propose({ skill_id: 'tea', content, justification: 'Needed.' }),
  approve: ({ id }) => proposals.approve(id, actor),
  reject: ({ id }) => proposals.reject(id, actor),
  recommend: ({ id, reason }) => proposals.recommend(id, 'approve', { ...actor, reason }),
  rollback: ({ revision }) => history.rollback('tea', revision, actor),
  restore: () => history.restore('tea', actor),
  create: ({ id, content }) => management.create(id, content, actor),
  write: ({ path, content }) => management.write('tea', path, content, actor),
  remove: () => management.remove('tea', actor),
};
try {
  print({ done: await actions[action](args) });
} catch (error) {
  print({ failed: error.code ?? String(error) });
}
await registry.close();
