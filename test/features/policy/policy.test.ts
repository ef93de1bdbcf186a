import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { describe, expect, it, vi } from 'vitest';
import { httpClient, serveRegistry } from '../../helpers/mcp.ts';
import { scriptedServer, servedSkill } from '../../helpers/mcp-server.ts';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import { letHoursPass, policyPage } from '../../helpers/policy-page.ts';
import { publishedPage } from '../../helpers/published-page.ts';
import { reviewPage } from '../../helpers/review-page.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { ADA } from '../../helpers/tea.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const skill = (id: string): Tree => ({
  [`skills/${id}/SKILL.md`]: skillMd({ name: id, description: `Makes ${id}.` }, `MARKED ${id}.`),
  [`skills/${id}/more.md`]: `MARKED more of ${id}.`,
});
const BOTH: Tree = { ...skill('tea'), ...skill('rum') };
const named = (from: string, max_age_hours?: number) => ({ policy: { from, ...(max_age_hours && { max_age_hours }) } });
const shown = (registry: SkillRegistry): readonly string[] => registry.visible().map(({ id }) => id);
const codes = (registry: SkillRegistry): readonly string[] => registry.problems().map(({ code }) => code);
const why = (registry: SkillRegistry, id: string) => registry.snapshot().byId.get(id)?.heldBecause;

describe('a named policy', () => {
  it.each([
    ['denied ids', { denied: { ids: ['rum'] } }, ['tea']],
    ['a denied id in capitals', { denied: { ids: ['RUM'] } }, ['tea']],
    ['allowed ids', { allowed: { ids: ['tea'] } }, ['tea']],
    ['allowed and denied: deny wins', { allowed: { ids: ['tea', 'rum'] }, denied: { ids: ['rum'] } }, ['tea']],
    ['each list narrows', { allowed: { ids: ['tea', 'rum'], owners: ['acme'] } }, []],
    ['what lies in folders here', { allowed: { owners: ['.'], sources: ['.'] } }, ['rum', 'tea']],
    ['an empty list', { allowed: { ids: [] } }, []],
    ['nothing', {}, ['rum', 'tea']],
  ])('shows what it lets through: %s', async (_, rules, ids) => {
    const page = await policyPage({ version: 1, ...rules });
    const { registry } = await openRegistry(BOTH, named(page.url));
    expect(shown(registry)).toEqual(ids);
  });

  it.each([
    ['no answer', undefined, /was never read here \(.* has no .*policy\.json\)/],
    ['no JSON', '{', /is wrong \(it is no JSON\)/],
    ['no version', { denied: { ids: [] } }, /version: expected/],
    ['a key that nobody knows', { version: 1, denied: { digests: [] } }, /denied.digests: there is no such key/],
    ['a name that is none', { version: 1, denied: { ids: [7] } }, /denied.ids.0: expected/],
    [
      'a key without end',
      { version: 1, ['\u001b[2J'.repeat(400_000)]: 1 },
      /^[ -~⟦⟧…]{1,800}: there is no such key[^\n]{1,300}$/,
    ],
    ['an id with its source', { version: 1, denied: { ids: ['skills:rum'] } }, /denied.ids.0: expected the id/],
    ['5 MiB', JSON.stringify({ version: 1, required: ['x'.repeat(5 * 1024 * 1024)] }), /more than 4194304 bytes/],
  ])('holds everything on a fresh machine where the page gives %s', async (_, policy, reason) => {
    const page = await policyPage(policy);
    const { registry } = await openRegistry(BOTH, named(page.url));
    expect(shown(registry)).toEqual([]);
    expect(registry.problems().find(({ code }) => code === 'POLICY_MISSING')?.message).toMatch(reason);
    await expect(registry.read('tea', {}, {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  });

  it('holds everything where nothing answers, or the key is written wrongly', async () => {
    const page = await policyPage({ version: 1 });
    await page.away();
    const away = await openRegistry(BOTH, named(page.url));
    const wrong = await openRegistry(BOTH, { policy: { form: page.url } });
    const nowhere = await openRegistry(BOTH, named('no-such-source'));
    for (const { registry } of [away, wrong, nowhere]) expect(shown(registry)).toEqual([]);
    expect(codes(wrong.registry)).toEqual(expect.arrayContaining(['CONFIG_KEY_INVALID', 'POLICY_MISSING']));
  });

  it('counts for its hours while the page is away, then everything is held, until it answers again', async () => {
    const page = await policyPage({ version: 1, denied: { ids: ['rum'] } });
    const open = async () => (await openRegistry(BOTH, named(page.url, 10))).registry;
    expect(shown(await open())).toEqual(['tea']);
    await page.away();
    letHoursPass(9);
    expect(shown(await open())).toEqual(['tea']);
    letHoursPass(2);
    const old = await open();
    expect(shown(old)).toEqual([]);
    expect(why(old, 'tea')).toMatch(/more than 10 hours ago .*\(POLICY_MISSING\)$/);
    await page.back();
    expect(shown(await open())).toEqual(['tea']);
    // A clock that was set back makes nothing younger.
    letHoursPass(-20);
    await page.away();
    expect(shown(await open())).toEqual([]);
  });

  it.each([
    ['it is deleted', (root: string) => rmSync(root), /has no/],
    ['it is older', (root: string) => writeFileSync(root, '{"version":4}'), /version 4, and 5 was read before/],
    ['it has other rules under the same version', (root: string) => writeFileSync(root, '{"version":5}'), /version 5/],
    ['it is wrong', (root: string) => writeFileSync(root, '[]'), /is wrong/],
  ])('stays as it was read when %s', async (_, change, reason) => {
    const published = await publishedPage(skill('tea'));
    const file = join(published.root, 'public/.well-known/agent-skills/policy.json');
    await policyPage();
    writeFileSync(file, JSON.stringify({ version: 5, denied: { ids: ['rum'] } }));
    const open = async () => (await openRegistry(BOTH, named(published.page.url))).registry;
    expect(shown(await open())).toEqual(['tea']);
    change(file);
    letHoursPass(1);
    const after = await open();
    expect(shown(after)).toEqual(['tea']);
    expect(after.problems().find(({ code }) => code === 'POLICY_REFUSED')?.message).toMatch(reason);
    writeFileSync(file, JSON.stringify({ version: 6 }));
    letHoursPass(1);
    expect(shown(await open())).toEqual(['rum', 'tea']);
  });

  it('is asked of a private page with the headers of its source', async () => {
    const page = await policyPage({ version: 1, denied: { ids: ['rum'] } });
    page.answer = (_, response, request) => {
      if (request.headers.authorization === 'Bearer s3cret') return false;
      response.writeHead(401).end();
      return true;
    };
    const headers = { Authorization: `Bearer \${TEAM_TOKEN}` };
    const sources = [{ path: 'skills' }, { wellKnown: page.url, headers, id: 'team' }];
    const open = (getSecret: () => string | undefined) =>
      openRoot(tempFolder(BOTH), { config: { sources, ...named('team') }, getSecret });
    expect(shown(await open(() => 's3cret'))).toEqual(['tea']);
    await policyPage();
    expect(shown(await open(() => undefined))).toEqual([]);
  });

  it('is not taken from a state file that others can write', async () => {
    const page = await policyPage({ version: 9, denied: { ids: ['rum'] } });
    expect(shown((await openRegistry(BOTH, named(page.url))).registry)).toEqual(['tea']);
    const folder = join(process.env.XDG_STATE_HOME ?? '', 'skill-registry/policies');
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o666);
    await page.away();
    expect(shown((await openRegistry(BOTH, named(page.url))).registry)).toEqual([]);
  });

  it('takes effect while a registry is open, at the next look, and is at no door then', async () => {
    const page = await policyPage({ version: 1 });
    const { registry } = await openRegistry(BOTH, { ...named(page.url), watch: { mode: 'off' } });
    expect(shown(registry)).toEqual(['rum', 'tea']);
    page.say({ version: 2, denied: { ids: ['rum'] } });
    const later = Date.now() + 120_000;
    vi.spyOn(Date, 'now').mockImplementation(() => later);
    await registry.refresh();
    vi.restoreAllMocks();
    expect(shown(registry)).toEqual(['tea']);
    await expect(registry.read('rum', {}, {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  });

  it('is too old for what is read of a list that was made before', async () => {
    const page = await policyPage({ version: 1 });
    const { registry } = await openRegistry(BOTH, { ...named(page.url, 1), watch: { mode: 'off' } });
    await page.away();
    const later = Date.now() + 2 * 3_600_000;
    vi.spyOn(Date, 'now').mockImplementation(() => later);
    expect(shown(registry)).toEqual([]);
    await expect(registry.read('tea', {}, {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
    vi.restoreAllMocks();
  });
});

it('holds a skill at every door: lists, reads, files, prompts, resources, bindings; a person sees why', async () => {
  const page = await policyPage({ version: 1, denied: { ids: ['rum'] } });
  const config = { ...named(page.url), agents: { bar: { skills: ['rum', 'tea'] } }, inject: 'bodies' };
  const { registry, serving } = await serveRegistry(BOTH, { config });
  const client = await httpClient(serving.url);
  const answers = JSON.stringify([
    client.getInstructions(),
    await client.listTools(),
    await client.listPrompts(),
    await client.listResources(),
    await client.getPrompt({ name: 'rum' }).catch(String),
    await client.readResource({ uri: 'skill://rum/SKILL.md' }).catch(String),
    await client.readResource({ uri: 'skill://rum/more.md' }).catch(String),
    await client.callTool({ name: 'list_skills', arguments: { query: 'rum' } }),
    await client.callTool({ name: 'list_skills', arguments: {} }),
    await client.callTool({ name: 'read_skill', arguments: { skill_id: 'rum' } }),
    await client.callTool({ name: 'read_skill', arguments: { skill_id: 'skills:rum' } }),
    await client.callTool({ name: 'read_skill_resource', arguments: { skill_id: 'rum', path: 'more.md' } }),
    await registry.context('Make rum.', { agentId: 'bar' }),
    await registry.context('Make rum.', { boundSkills: ['rum', 'tea'] }),
  ]);
  expect(answers).toContain('Makes tea.');
  expect(answers).toContain('MARKED tea.');
  expect(answers).not.toMatch(/MARKED rum|MARKED more of rum|Makes rum/);
  await expect(registry.apply('rum', '', {})).rejects.toMatchObject({ code: 'SKILL_HELD' });
  expect(await registry.read('rum')).toMatchObject({ heldBecause: expect.stringContaining('denies the id "rum"') });
  expect(codes(registry)).toEqual(['POLICY_DENIED']);
  expect(registry.problems()[0]?.message).toContain('1 skill, and no agent is given them: skills:rum.');
  // Its findings are none, so no person can let it in.
  const decided = registry.admin.decideTrust('allow', 'rum', ADA);
  await expect(decided).rejects.toMatchObject({ message: expect.stringContaining('denies the id') });
});

it('is on the review page, which offers no approval, and says what is required and missing', async () => {
  const page = await policyPage({ version: 1, denied: { ids: ['tea'] }, required: ['tea', 'milk'] });
  const review = await reviewPage({}, named(page.url));
  const shownSkill = (await review.get('/skills/tea')).text;
  expect(shownSkill).toContain('denies the id');
  expect(shownSkill).toContain('No approval here ends that.');
  expect(shownSkill).not.toContain('/skills/tea/trust');
  expect((await review.get('/')).text).not.toContain('Held skills');
  const problems = (await review.get('/problems')).text;
  expect(problems).toContain('requires 2 skills that agents do not have here: tea, milk');
});

it('requires ids as they are written here', async () => {
  const page = await policyPage({ version: 1, required: ['Tea_Time', 'milk'] });
  const { registry } = await openRegistry(skill('Tea_Time'), named(page.url));
  expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(['Tea_Time']);
  expect(registry.problems().find(({ code }) => code === 'POLICY_REQUIRED')?.details).toEqual({ skills: ['milk'] });
});

it('is said by doctor, with what is required and missing; nothing is installed', async () => {
  const page = await policyPage({ version: 1, required: ['milk'] });
  const root = tempFolder({ ...BOTH, 'data/skill_registry/config.yaml': `policy: { from: ${page.url} }\n` });
  const { stdout } = await runCommand(['doctor', '--root', root]);
  expect(stdout).toContain('POLICY_REQUIRED');
  expect(stdout).toContain('milk');
  expect(readdirSync(join(root, 'skills')).sort()).toEqual(['rum', 'tea']);
});

it('keeps the flags from getting round it: --skills names other folders, and its skills are held as well', async () => {
  const page = await policyPage({ version: 1, denied: { ids: ['rum'] } });
  const root = tempFolder({ 'data/skill_registry/config.yaml': `policy: { from: ${page.url} }\n` });
  const other = tempFolder(BOTH);
  const { stdout } = await runCommand(['list', '--json', '--root', root, '--skills', join(other, 'skills')]);
  const problems = (JSON.parse(stdout) as { readonly problems: readonly { readonly code: string }[] }).problems;
  expect(problems.map(({ code }) => code)).toContain('POLICY_DENIED');
});

it('counts only in a config that a person has approved: no address of a stranger is asked', async () => {
  const page = await policyPage({ version: 1, denied: { ids: ['rum'] } });
  const config = `policy: { from: ${page.url} }\nsources: [{ path: skills }, { wellKnown: ${page.url} }]\n`;
  const root = tempFolder({ ...BOTH, 'data/skill_registry/config.yaml': config });
  const { stdout } = await runCommand(['doctor', '--root', root], { trust: false });
  expect(stdout).toMatch(/policy/);
  const sources = [{ path: 'skills' }, { wellKnown: page.url }];
  const registry = await openRoot(root, { trust: false, config: { sources } });
  expect(shown(registry)).toEqual(['rum', 'tea']);
  expect(page.answers).toEqual([]);
});

it('holds the skills of an MCP server by its address', async () => {
  const server = await scriptedServer([servedSkill('tea')]);
  const page = await policyPage({ version: 1, denied: { sources: [server.url] } });
  const { registry } = await openRegistry({}, { sources: [{ mcp: { url: server.url } }], ...named(page.url) });
  await waitFor('its list', () => registry.snapshot().byId.has('tea'));
  expect(shown(registry)).toEqual([]);
  await expect(registry.read('tea', {}, {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  expect(server.requests).not.toContain('resources/read');
});

describe('add and update', () => {
  const origin = (tree: Tree) => tempFolder(tree);

  it('take nothing that a policy denies, before and after the plan', async () => {
    const page = await policyPage({ version: 1, denied: { ids: ['rum'] } });
    const { root, registry } = await openRegistry({}, named(page.url));
    const from = origin(BOTH);
    await expect(registry.origin.add(from, { skills: ['rum'] })).rejects.toMatchObject({ code: 'POLICY_DENIED' });
    await (await registry.origin.add(from, { skills: ['tea'] })).apply(ADA);
    expect(readdirSync(join(root, 'skills'))).toEqual(['tea']);
    writeTree(from, { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Green.' }) });
    const plan = await registry.origin.update();
    expect(plan.skills).toMatchObject([{ state: 'outdated' }]);
    page.say({ version: 2, denied: { ids: ['tea'] } });
    const later = Date.now() + 120_000;
    vi.spyOn(Date, 'now').mockImplementation(() => later);
    await expect(plan.apply(ADA)).rejects.toMatchObject({ code: 'POLICY_DENIED' });
    vi.restoreAllMocks();
    const again = await registry.origin.update();
    expect(again.skills).toMatchObject([{ state: 'failed', reason: expect.stringContaining('denies the id "tea"') }]);
  });

  it('contact no source that a policy denies, nor any while it is missing', async () => {
    const published = await publishedPage(skill('tea'));
    const page = await policyPage({ version: 1, denied: { sources: [published.page.url] } });
    const { registry } = await openRegistry({}, named(page.url));
    published.page.answers.length = 0;
    await expect(registry.origin.add(published.page.url)).rejects.toMatchObject({ code: 'POLICY_DENIED' });
    expect(published.page.answers).toEqual([]);
    const fresh = await policyPage();
    const missing = await openRegistry({}, named(fresh.url));
    await expect(missing.registry.origin.add(origin(BOTH))).rejects.toMatchObject({ code: 'POLICY_MISSING' });
  });

  it('let in by where a skill was fetched from; a lock that somebody wrote by hand does not', async () => {
    const published = await publishedPage(skill('tea'));
    const host = new URL(published.page.url).host;
    const page = await policyPage({ version: 1, allowed: { owners: [host] } });
    const config = named(page.url);
    const { root, registry } = await openRegistry({}, config);
    await (await registry.origin.add(published.page.url)).apply(ADA);
    await registry.admin.inspectSkills();
    expect(shown(registry)).toEqual(['tea']);
    const lock = readFileSync(join(root, 'skills-lock.json'), 'utf8');
    // Another machine: the same folder and lock, which anybody could have written.
    await policyPage();
    const cloned = tempFolder({ ...skill('tea'), 'skills-lock.json': lock });
    const other = await openRoot(cloned, { config: { sources: [{ path: 'skills' }], ...config } });
    expect(why(other, 'tea')).toContain('does not allow the owner "."');
    // It asks the origin, which has the same files.
    expect((await other.origin.update()).skills).toMatchObject([{ state: 'current' }]);
    await waitFor('the note', () => shown(other).length > 0 || void other.refresh());
    writeTree(cloned, { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Other tea.' }) });
    await other.refresh();
    await other.admin.inspectSkills();
    expect(shown(other)).toEqual([]);
  });

  it('hold what a lock says to be from a denied source', async () => {
    const published = await publishedPage(skill('tea'));
    const { root, registry } = await openRegistry();
    await (await registry.origin.add(published.page.url)).apply(ADA);
    const page = await policyPage({ version: 1, denied: { sources: [`${published.page.url}/`] } });
    expect(shown(await openRoot(root, { config: { sources: [{ path: 'skills' }], ...named(page.url) } }))).toEqual([]);
  });
});

describe('a policy that nobody has named', () => {
  it('narrows the skills of its own page only', async () => {
    const published = await publishedPage(BOTH);
    await policyPage();
    const file = join(published.root, 'public/.well-known/agent-skills/policy.json');
    writeFileSync(file, JSON.stringify({ version: 1, denied: { ids: ['rum'] } }));
    const root = tempFolder({ 'own/rum/SKILL.md': skillMd({ name: 'rum', description: 'Own rum.' }) });
    const sources = [{ wellKnown: published.page.url, id: 'page' }, { path: 'own' }];
    const registry = await openRoot(root, { config: { sources, collision: 'last' } });
    const held = [...registry.snapshot().byQualifiedId.values()].filter(({ heldBecause }) => heldBecause);
    expect(held.map(({ qualifiedId }) => qualifiedId)).toEqual(['page:rum']);
    expect(shown(registry).toSorted()).toEqual(['rum', 'tea']);
    const { registry: empty } = await openRegistry();
    const added = empty.origin.add(published.page.url, { skills: ['rum'] });
    await expect(added).rejects.toMatchObject({ code: 'POLICY_DENIED' });
  });

  it('and contradicts a named one: what either denies is held', async () => {
    const published = await publishedPage({ ...BOTH, ...skill('milk') });
    const page = await policyPage({ version: 1, denied: { ids: ['tea'] }, allowed: { ids: ['tea', 'rum', 'milk'] } });
    const file = join(published.root, 'public/.well-known/agent-skills/policy.json');
    writeFileSync(file, JSON.stringify({ version: 1, denied: { ids: ['rum'] }, allowed: { ids: ['tea', 'milk'] } }));
    const config = { sources: [{ wellKnown: published.page.url }], ...named(page.url) };
    expect(shown(await openRoot(tempFolder(), { config }))).toEqual(['milk']);
  });

  it('says once what it requires when the config names it, too', async () => {
    const published = await publishedPage(BOTH);
    const file = join(published.root, 'public/.well-known/agent-skills/policy.json');
    writeFileSync(file, JSON.stringify({ version: 1, required: ['milk'] }));
    const config = { sources: [{ wellKnown: published.page.url }], ...named(published.page.url) };
    expect(codes(await openRoot(tempFolder(), { config }))).toEqual(['POLICY_REQUIRED']);
  });

  it('holds the skills of its page when it is wrong', async () => {
    const published = await publishedPage(BOTH);
    await policyPage();
    mkdirSync(join(published.root, 'public/.well-known/agent-skills'), { recursive: true });
    writeFileSync(join(published.root, 'public/.well-known/agent-skills/policy.json'), '{"version":0}');
    const registry = await openRoot(tempFolder(), { config: { sources: [{ wellKnown: published.page.url }] } });
    expect(shown(registry)).toEqual([]);
    expect(codes(registry)).toContain('POLICY_MISSING');
  });
});
