import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from '../helpers/run-command.ts';
import { skillMd, type Tree, tempFolder } from '../helpers/temp-folder.ts';

const skill = (id: string, description: string, tags = '[a]'): Tree => ({
  [`skills/${id}/SKILL.md`]: skillMd({ name: id, description, tags }, `Steps of ${id}: pour the water slowly.`),
});
const kitchen = (): string =>
  tempFolder({
    ...skill('brew-tea', 'Makes tea. Use when somebody is thirsty.'),
    ...skill('brew-coffee', 'Makes coffee from beans.', '[beans]'),
    'skills/secret/SKILL.md': skillMd({
      name: 'secret',
      description: 'Tea for guests.',
      'disable-model-invocation': 'true',
    }),
  });
const searchIn = (root: string, ...args: string[]) =>
  runCommand(['search', ...args, '--skills', join(root, 'skills')], { cwd: root });

it('prints hits best first with score and reason, and counts them on standard error', async () => {
  const { status, stdout, stderr } = await searchIn(kitchen(), 'brew');
  expect(status).toBe(0);
  const [header, ...rows] = stdout.trimEnd().split('\n');
  expect(header).toMatch(/^SKILL +SCORE +SOURCE +WHY$/);
  expect(rows.map((row) => row.split(' ')[0]).sort()).toEqual(['brew-coffee', 'brew-tea']);
  expect(rows[0]).toMatch(/ 0\.95 +skills +id: brew-/);
  expect(stderr).toBe('2 skills\n');
});

it('has the shape of list as JSON, with score and reason, hidden skills included', async () => {
  const root = kitchen();
  const { status, stdout } = await searchIn(root, 'guests', '--json');
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    skills: [
      {
        skill_id: 'secret',
        qualified_id: 'skills:secret',
        name: 'secret',
        description: 'Tea for guests.',
        tags: [],
        source: 'skills',
        file: join(root, 'skills/secret/SKILL.md'),
        tokens: { l1: expect.any(Number), l2: null },
        looks_here: [],
        score: expect.any(Number),
        why: { field: 'description', snippet: 'Tea for guests.' },
      },
    ],
    total: 1,
    problems: [],
  });
});

it('takes a limit, a tag and a source', async () => {
  const root = kitchen();
  expect((await searchIn(root, 'brew', '--limit', '1')).stderr).toBe('2 skills, the best 1 shown\n');
  expect((await searchIn(root, 'brew', '--tag', 'beans')).stdout).not.toContain('brew-tea');
  expect((await searchIn(root, 'brew', '--source', 'others')).stdout).toBe('');
  expect((await searchIn(root, 'brew', '--limit', '0')).status).toBe(2);
});

it('names what is near when nothing is found, which is no failure', async () => {
  const root = kitchen();
  const { status, stdout, stderr } = await searchIn(root, 'bru-tee');
  expect([status, stdout]).toEqual([0, '']);
  expect(stderr).toMatch(
    /^No skill fits\. Search by meaning is off, .+\. Nearest: brew-tea\. Search by meaning needs emb/,
  );
  const json = JSON.parse((await searchIn(root, 'bru-tee', '--json')).stdout);
  expect(json).toMatchObject({ skills: [], total: 0, nearest: ['brew-tea'], message: expect.any(String) });
});

it('says on the terminal and in JSON that what is nearest may not fit', async () => {
  const root = kitchen();
  const query = 'tea ceremonies of elephants in Kyoto and zebras in Nairobi';
  const { status, stdout, stderr } = await searchIn(root, query);
  expect([status, stdout]).toEqual([0, expect.stringContaining('brew-tea')]);
  expect(stderr).toMatch(/^These may not fit; they are only the nearest\.\n/);
  expect(JSON.parse((await searchIn(root, query, '--json')).stdout).skills[0]).toHaveProperty('weak', true);
});

it('doctor --overlap names skills that compete and queries that go astray', async () => {
  const root = tempFolder({
    ...skill('review-pull-requests', 'Reviews pull requests for style and security.'),
    ...skill('check-pull-requests', 'Checks pull requests for style and security.'),
    'skills/check-pull-requests/evals/trigger-eval.json':
      '[{ "query": "review pull requests", "should_trigger": true }]',
  });
  const command = ['doctor', '--overlap', '--skills', join(root, 'skills')];
  const { status, stdout } = await runCommand(command, { cwd: root });
  expect(status).toBe(0);
  expect(stdout).toContain('Skills that compete for the same tasks: 1 group\n');
  expect(stdout).toContain('  check-pull-requests: "review pull requests" finds review-pull-requests\n');
  const json = JSON.parse((await runCommand([...command, '--json'], { cwd: root })).stdout);
  expect(json).toMatchObject({ queries: 1, stolen: [{ found: 'review-pull-requests' }], problems: [] });
});

it('says of a question in another language that no skill fits, and how to turn search by meaning on', async () => {
  const { status, stdout, stderr } = await searchIn(kitchen(), 'Wie koche ich einen guten Kaffee?');
  expect([status, stdout]).toEqual([0, '']);
  expect(stderr).toBe(
    'No skill fits. Search by meaning is off, so only skills that contain words of the query are found: use other words, in the ' +
      'language of the skills. Search by meaning needs embeddings.base_url and embeddings.model in data/skill_registry/config.yaml.\n',
  );
});

it('says that there are no skills where there are none, and nothing of a tag or of words', async () => {
  const root = tempFolder({ 'skills/notes.txt': '' });
  expect((await searchIn(root, 'tea')).stderr).toBe('No skill fits. There is none that may be seen.\n');
});

it('says of a tag that no skill has that the tag is what does not fit', async () => {
  const { status, stderr } = await searchIn(kitchen(), 'tea', '--tag', 'nope');
  expect([status, stderr]).toEqual([
    0,
    'No skill fits. None that may be seen has this tag or source, whatever the words are: leave it out.\n',
  ]);
});
