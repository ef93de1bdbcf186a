// Changes a skill in a process of its own, from the built package. argv[2], as JSON: { root, action, args, dieAt?, dieAtStep?,
// dieAfterMs?, filler?, fillAt?, config? }. With dieAt it kills itself at that step, with dieAtStep at the step of that number (1 is
// the first, whatever it is), with dieAfterMs another process does so long after the change has begun; from the step fillAt on the
// file `filler` takes all room on its disk. It prints what came of it.
import { spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { createSkillRegistry } from 'skill-registry';

const { root, action, args, dieAt, dieAtStep, dieAfterMs, filler, fillAt, config = {} } = JSON.parse(process.argv[2]);
const print = (result) => process.stdout.write(`${JSON.stringify(result)}\n`);
let armed = false;
let steps = 0;
const fill = () => {
  const descriptor = openSync(filler, 'a');
  for (let size = 65_536; size >= 1; ) {
    try {
      writeSync(descriptor, Buffer.alloc(size));
    } catch {
      size = Math.floor(size / 2);
    }
  }
  closeSync(descriptor);
};
const registry = await createSkillRegistry({
  root,
  config: { sources: [{ path: 'skills' }], ...config },
  onWriteStep(step) {
    if (armed && filler && step === fillAt) fill();
    if (armed && (step === dieAt || ++steps === dieAtStep)) process.kill(process.pid, 'SIGKILL');
  },
});
armed = true;
if (dieAfterMs !== undefined) {
  spawn('sh', ['-c', `sleep ${dieAfterMs / 1000}; kill -9 ${process.pid}`], { stdio: 'ignore' }).unref();
}
const {
  proposals,
  history,
  origin,
  admin: { management },
} = registry;
const actor = { by: `person:${process.pid}`, reason: 'Because.' };
const actions = {
  propose: ({ content }) => proposals.propose({ skillId: 'tea', content, justification: 'Needed.' }),
  approve: ({ id }) => proposals.approve(id, actor),
  reject: ({ id }) => proposals.reject(id, actor),
  recommend: ({ id, reason }) => proposals.recommend(id, 'approve', { ...actor, reason }),
  rollback: ({ revision }) => history.rollback('tea', revision, actor),
  restore: () => history.restore('tea', actor),
  create: ({ id, content }) => management.create(id, content, actor),
  write: ({ path, content }) => management.write('tea', path, content, actor),
  remove: () => management.remove('tea', actor),
  add: async ({ from }) => (await origin.add(from, { all: true })).apply(actor),
  import: async ({ from }) => (await origin.import(from)).apply(actor),
  bringBack: async () => (await origin.restore()).apply(actor),
  update: async () => (await origin.update()).apply(actor),
  uninstall: () => origin.remove('tea', actor),
};
try {
  print({ done: await actions[action](args) });
} catch (error) {
  print({ failed: error.code ?? String(error) });
}
await registry.close();
