/**
 * One process that works on a root which is itself a skill, until the time is over: it proposes, decides, changes, reads every
 * file that is offered, and opens and closes the registry again and again. Prints what it was told was done.
 */
import { createSkillRegistry } from '../../dist/extensions/skill_registry/index.js';

const { root, n, seconds, sources } = JSON.parse(process.argv[2]);
const until = performance.now() + seconds * 1000;
const done = { approved: [], rejected: [], written: [], read: 0, rounds: 0, failed: [] };
/** Another process was faster with the same file, or holds the lock: nothing was promised then. */
const EXPECTED = new Set([
  'PROPOSAL_STALE',
  'PROPOSAL_NO_CHANGE',
  'HISTORY_BUSY',
  'WRITE_FAILED',
  'PROPOSAL_DUPLICATE',
]);

async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (!EXPECTED.has(error.code)) done.failed.push(`${error.code ?? ''} ${error.message}`.slice(0, 300));
    return undefined;
  }
}

const TURN = { agentId: `agent-${n}` };

async function round(registry, number) {
  const [skill] = registry.snapshot().skills;
  if (!skill) throw new Error('the root is no skill any more');
  const name = `${n}-${number}-${Math.random().toString(36).slice(2, 8)}`;
  const propose = (path) =>
    attempt(() =>
      registry.proposals.propose({ skillId: skill.id, path, content: `${name}\n`, justification: name }, TURN),
    );
  const [one, other] = [await propose(`references/${name}.md`), await propose(`references/not-${name}.md`)];
  // Whatever is listed is read, as a model would.
  const { resources } = (await attempt(() => registry.read(skill.id, { audience: 'model' }, TURN))) ?? {
    resources: [],
  };
  for (const { path } of resources.slice(0, 100)) {
    await attempt(() => registry.readResource(skill.id, path, TURN));
    done.read += 1;
  }
  if (one && (await attempt(() => registry.proposals.approve(one.proposalId, { by: `person:${n}` })))) {
    done.approved.push(one.proposalId);
  }
  if (
    other &&
    (await attempt(() => registry.proposals.reject(other.proposalId, { by: `person:${n}`, reason: name })))
  ) {
    done.rejected.push(other.proposalId);
  }
  const path = `notes/${name}.md`;
  if (await attempt(() => registry.admin.management.write(skill.id, path, `${name}\n`, { by: `person:${n}` }))) {
    done.written.push(path);
  }
  await attempt(() => registry.history.revisions(skill.id));
  done.rounds += 1;
}

while (performance.now() < until) {
  const registry = await createSkillRegistry({ root, config: { sources } });
  // One stays open for long, the other comes and goes: whoever leaves last tidies the database up.
  const rounds = n === 0 ? 8 : 1;
  // One round at least: on a busy machine the time may be over when the registry is open.
  for (let number = 0; number < rounds && (number === 0 || performance.now() < until); number++) {
    await round(registry, number);
  }
  await registry.close();
}
process.stdout.write(JSON.stringify(done));
