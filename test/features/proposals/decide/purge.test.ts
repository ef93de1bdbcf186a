import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { createSkillRegistry } from 'skill-registry';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../../../lib/sqlite/index.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { ADA, TEA, type TeaRegistry, teaRegistry } from '../../../helpers/tea.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

const SECRET = 'zebrafish4711';
/** Long enough to be kept deflated. */
const TEXT = `${TEA}\n## Key\n\n${`Use ${SECRET} everywhere.\n`.repeat(40)}`;

/** Every file below the data folder that holds a text, as it is or deflated. */
function filesWith(root: string, ...texts: readonly (string | Buffer)[]): readonly string[] {
  const data = join(root, 'data');
  return readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => texts.some((text) => readFileSync(file).includes(text)))
    .map((file) => file.slice(data.length + 1));
}

/** The way `blob` keeps it. */
const kept = (text: string): Buffer => deflateRawSync(Buffer.from(text), { level: 4 });

/** A proposal with the secret in everything it can be in, rejected, with what editors left of its file. */
async function rejected(place: TeaRegistry, content = TEXT): Promise<string> {
  const { proposals } = place.registry;
  const { proposalId: id, file } = await proposals.propose({
    skillId: 'tea',
    content,
    justification: `Needs ${SECRET}.`,
    evidence: `It said ${SECRET}.`,
    author: 'agent:brewer',
  });
  await proposals.get(id);
  writeFileSync(file, readFileSync(file, 'utf8').replace('everywhere', 'nowhere'));
  await proposals.recommend(id, 'reject', { by: 'agent:reviewer', reason: `It holds ${SECRET}.` });
  writeFileSync(`${file}~`, SECRET);
  writeFileSync(join(file, '..', `.${id}.md.swp`), SECRET);
  await proposals.reject(id, { ...ADA, reason: `${SECRET} is a key.` });
  writeFileSync(file, `${readFileSync(file, 'utf8')}\nToo late: ${SECRET}\n`);
  await proposals.get(id);
  return id;
}

it('leaves the bytes of a rejected proposal in no file below data/, and says who did it and when', async () => {
  // With a query to try it on, the proposed text is indexed.
  const queries = JSON.stringify([{ query: 'brew tea', should_trigger: true }]);
  const place = await teaRegistry({ 'data/.keep': '', 'skills/tea/evals/trigger-eval.json': queries });
  const { proposals } = place.registry;
  const other = await place.propose(TEA.replace('two minutes', 'four minutes'));
  const id = await rejected(place);
  const before = filesWith(place.root, SECRET, kept(TEXT).subarray(20, 60));
  for (const file of ['history.db', `proposals/${id}.md`, `proposals/.${id}.md.swp`, 'cache.db'])
    expect(
      before.some((one) => one.startsWith(`skill_registry/${file}`)),
      `${file} of ${before}`,
    ).toBe(true);

  const [purged] = await proposals.purge([id], { by: 'person:eve' });
  expect(purged).toEqual({
    proposalId: id,
    skillId: 'tea',
    purged: { by: 'person:eve', at: expect.stringMatching(/^20/) },
    shared: 0,
  });
  expect(filesWith(place.root, SECRET, kept(TEXT).subarray(20, 60))).toEqual([]);
  expect(await proposals.get(id)).toMatchObject({
    state: 'rejected',
    author: 'agent:brewer',
    decision: { by: 'person:ada', reason: '[purged] is a key.' },
    purged: { by: 'person:eve' },
    diff: '',
    justification: '',
    evidence: null,
    recommendations: [],
  });
  // The others, the skill and its history are as they were.
  expect(await proposals.get(other)).toMatchObject({
    state: 'open',
    purged: null,
    diff: expect.stringContaining('+Steep'),
  });
  await proposals.approve(other, ADA);
  expect(place.tea()).toContain('four minutes');
  expect((await place.registry.history.read('tea', 1)).toString()).toBe(TEA);
  expect(place.registry.list({ query: 'tea' }).total).toBe(1);
  // Whoever looks, or saves an old copy of the file, brings nothing back.
  writeFileSync((await proposals.get(id)).file, SECRET);
  await proposals.list('all');
  expect(filesWith(place.root, SECRET)).toEqual([`skill_registry/proposals/${id}.md`]);
  expect(await proposals.purge([id], ADA)).toMatchObject([{ purged: { by: 'person:eve' } }]);
  expect(filesWith(place.root, SECRET)).toEqual([]);
  expect((await proposals.stats()).all).toMatchObject({ rejected: 1, approved: 1 });
});

it('leaves no bytes while another registry has the history open, and its readers go on', async () => {
  const place = await teaRegistry();
  const id = await rejected(place);
  const other = await createSkillRegistry({ root: place.root, config: { sources: [{ path: 'skills' }] } });
  onTestFinished(() => other.close());
  expect(await other.proposals.list('rejected')).toHaveLength(1);
  other.list({ query: SECRET });
  await place.registry.proposals.purge([id], ADA);
  expect(filesWith(place.root, SECRET)).toEqual([]);
  expect(await other.proposals.get(id)).toMatchObject({ purged: { by: 'person:ada' } });
  expect(other.list({ query: 'tea' }).total).toBe(1);
});

it('takes it out of what a migration has kept, too', async () => {
  const place = await teaRegistry();
  const id = await rejected(place);
  const folder = join(place.root, 'data/skill_registry');
  const database = openSqlite(join(folder, 'history.db'));
  database.prepare('VACUUM INTO ?').run(join(folder, 'history.db.v1.backup'));
  database.close();
  await place.registry.proposals.purge([id], ADA);
  expect(filesWith(place.root, SECRET)).toEqual([]);
  expect(readdirSync(folder).filter((name) => name.includes('backup'))).toEqual(['history.db.v1.backup']);
});

it('leaves what a revision or another proposal has as well, and says how much', async () => {
  const place = await teaRegistry();
  const { proposals } = place.registry;
  const first = await place.propose(TEXT);
  await proposals.reject(first, { ...ADA, reason: 'No.' });
  const again = { skillId: 'tea', content: TEXT, justification: 'It was right.', author: ADA.by };
  const { proposalId: second } = await proposals.propose(again);
  expect(await proposals.purge([first], ADA)).toMatchObject([{ shared: 1 }]);
  await proposals.approve(second, ADA);
  expect(place.tea()).toBe(TEXT);
  expect((await place.registry.history.read('tea', 2)).toString()).toBe(TEXT);
});

describe('nothing is purged', () => {
  it.each(['open', 'approved'])('of a proposal that is %s', async (state) => {
    const place = await teaRegistry();
    const id = await place.propose(TEXT);
    if (state === 'approved') await place.registry.proposals.approve(id, ADA);
    await expect(place.registry.proposals.purge([id], ADA)).rejects.toMatchObject({ code: 'PROPOSAL_NOT_REJECTED' });
    expect((await place.registry.proposals.get(id)).diff).toContain(SECRET);
  });

  it('when one of several is not rejected, or is not there', async () => {
    const place = await teaRegistry();
    const [id, open] = [await rejected(place), await place.propose(TEA.replace('Serve', 'Pour'))];
    for (const other of [open, 'nosuch'])
      await expect(place.registry.proposals.purge([id, other], ADA)).rejects.toMatchObject({
        code: expect.stringMatching(/^PROPOSAL_NOT_/),
      });
    expect((await place.registry.proposals.get(id)).purged).toBeNull();
    await expect(place.registry.proposals.purge([], ADA)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('where nothing was ever written', async () => {
    const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
    const { status, stderr } = await runCommand(['proposals', 'purge', 'x', '--root', root]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('PROPOSAL_NOT_FOUND')]);
    expect(existsSync(join(root, 'data/skill_registry/history.db'))).toBe(false);
  });
});

it('is a command: by id, or all that are rejected', async () => {
  const place = await teaRegistry();
  const [one, two] = [await rejected(place), await rejected(place, `${TEXT}\nMore.\n`)];
  await place.registry.close();
  const run = (...args: readonly string[]) =>
    runCommand(['proposals', ...args, '--root', place.root, '--skills', join(place.root, 'skills')], {
      environment: { USER: 'ada' },
    });
  expect((await run('purge')).status).toBe(2);
  expect((await run('purge', one, '--rejected')).status).toBe(2);
  const part = await run('purge', one.slice(-6));
  expect(part).toMatchObject({ status: 2, stderr: expect.stringContaining(`is a part of ${one}`) });
  expect(await run('purge', one)).toMatchObject({ status: 0, stderr: `Purged ${one}\n` });
  expect((await run('show', one)).stdout).toMatch(/Its texts were purged by person:ada at 20/);
  expect((await run('list', '--state', 'all')).stdout).toMatch(new RegExp(`${one} +rejected, purged`));
  const { purged } = JSON.parse((await run('purge', '--rejected', '--by', 'eve', '--json')).stdout);
  expect(
    purged.map((one: { proposal_id: string; purged: { by: string } }) => [one.proposal_id, one.purged.by]),
  ).toEqual([
    [two, 'person:eve'],
    [one, 'person:ada'],
  ]);
  expect(filesWith(place.root, SECRET)).toEqual([]);
});
