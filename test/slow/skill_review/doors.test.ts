import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { boot, type Kernel } from 'skill-registry/kernel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gitRepository } from '../../helpers/git-repository.ts';
import { reviewPage, textOf } from '../../helpers/review-page.ts';
import { runCommand, startCommand } from '../../helpers/run-command.ts';
import { ADA, LONGER, TEA } from '../../helpers/tea.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const TREE = { 'skills/tea/SKILL.md': TEA };

async function enter(address: string): Promise<{ readonly page: string; readonly cookie: string }> {
  const entered = await fetch(address, { redirect: 'manual' });
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  const page = await (await fetch(new URL('/', address), { headers: { cookie } })).text();
  return { page, cookie };
}

describe('the command', () => {
  it('prints the address on standard output alone, decides as --as, and ends with a signal', async () => {
    const root = tempFolder(TREE);
    const running = startCommand(['review', '--as', 'grace', '--root', root]);
    await running.until('\n');
    const address = running.stdout().trim();
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/open\/[\w-]{43}$/);
    const { page } = await enter(address);
    expect(textOf(page)).toContain('person:grace');
    expect(textOf(page)).toContain(root);
    await running.untilStderr('Ctrl+C ends it');
    expect(running.stderr()).not.toContain(new URL(address).pathname.slice('/open/'.length));
    running.child.kill('SIGTERM');
    expect(await running.exited).toBe(0);
    await expect(fetch(address)).rejects.toThrow();
  });

  it('lets no agent decide, and says when it cannot listen', async () => {
    const root = tempFolder(TREE);
    const agent = await runCommand(['review', '--as', 'agent:brewer', '--root', root]);
    expect(agent).toMatchObject({ status: 2, stdout: '' });
    expect(agent.stderr).toContain('Only a person decides');
    const { serving } = await reviewPage();
    const taken = await runCommand(['review', '--port', new URL(serving.url).port, '--root', root]);
    expect(taken).toMatchObject({ status: 1, stdout: '' });
    expect(taken.stderr).toContain('the port is taken');
  });

  it('keeps what waits in a linked data folder of a root that nobody has approved out of sight', async () => {
    const held = tempFolder({ '.held/greeter/files/main.ts': 'export const theirs = 1;\n' });
    const root = tempFolder({ ...TREE, data: { link: held } });
    const running = startCommand(['review', '--root', root], { trust: false });
    await running.until('\n');
    const { page } = await enter(running.stdout().trim());
    expect(textOf(page)).not.toContain('greeter');
  });
});

describe('in a kernel', () => {
  const kernelWith = async (options: Partial<Parameters<typeof boot>[0]>): Promise<Kernel> => {
    const kernel = await boot({ root: tempFolder(TREE), ...options });
    onTestFinished(() => kernel.shutdown());
    return kernel;
  };

  it('is off unless it is enabled', async () => {
    const kernel = await kernelWith({});
    expect(kernel.extensions().find(({ id }) => id === 'skill_review')).toMatchObject({ state: 'DISABLED' });
  });

  it('serves the registry of the kernel until that stops', async () => {
    const kernel = await kernelWith({ enable: ['skill_review'] });
    const told = await waitFor('the address', () => kernel.undelivered().find((text) => text.includes('/open/')));
    const address = told.split(' ').at(-1) ?? '';
    expect(textOf((await enter(address)).page)).toContain('Nothing waits for you.');
    await kernel.shutdown();
    await expect(fetch(address)).rejects.toThrow();
  });

  it('opens nothing with a config that is wrong', async () => {
    const kernel = await kernelWith({ enable: ['skill_review'], config: { skill_review: { port: 'x' } } });
    expect(kernel.extensions().find(({ id }) => id === 'skill_review')).toMatchObject({
      state: 'ERROR',
      reason: expect.stringContaining('port'),
    });
  });
});

describe('while a page is open', () => {
  it('says that something has changed: on disk, proposed, decided', async () => {
    const page = await reviewPage();
    const counts: number[] = [];
    const stream = get(`${page.base}/events`, { headers: { cookie: page.cookie }, agent: false }, (answer) => {
      expect(answer.headers['content-type']).toContain('text/event-stream');
      answer.setEncoding('utf8').on('data', (text: string) => {
        for (const [, found] of text.matchAll(/event: count\ndata: (\d+)/g)) counts.push(Number(found));
      });
    });
    onTestFinished(() => void stream.destroy());
    await waitFor('the first count', () => counts.length > 0);
    const tells = async (work: () => Promise<unknown>): Promise<void> => {
      const before = counts.at(-1) ?? 0;
      await work();
      await waitFor('another count', () => (counts.at(-1) ?? 0) > before);
    };
    await tells(async () => {
      writeFileSync(join(page.root, 'skills/tea/SKILL.md'), `${TEA}\nMore.\n`);
      await page.registry.refresh();
    });
    let id = '';
    await tells(async () => {
      id = await page.propose(LONGER);
    });
    await tells(() => page.send(`/proposals/${id}`, `/proposals/${id}/reject`, { reason: 'No.' }));
  });

  it('ends all streams when it is closed', async () => {
    const page = await reviewPage();
    const ended = new Promise<void>((resolve) => {
      get(`${page.base}/events`, { headers: { cookie: page.cookie }, agent: false }, (answer) => {
        answer.once('data', () => void page.serving.close());
        answer.on('end', resolve).on('error', () => resolve());
      }).on('error', () => resolve());
    });
    await ended;
  });
});

it('shows what an update would change before it writes it, and writes what was shown', async () => {
  const repository = gitRepository(TREE);
  const page = await reviewPage();
  await page.registry.admin.management.remove('tea', ADA);
  const plan = await page.registry.origin.add(repository.url);
  await plan.apply(ADA);
  repository.commit({ 'skills/tea/SKILL.md': LONGER });
  expect(textOf((await page.get('/updates')).text)).toContain('Nothing is written by asking.');
  await page.send('/', '/updates/check');
  const shown = await page.get('/updates');
  expect(textOf(shown.text)).toContain('Steep for three minutes.');
  expect(textOf((await page.get('/')).text)).toContain('Updates');
  expect(page.tea()).toBe(TEA);
  expect((await page.post('/updates/apply', { key: 'another' })).status).toBe(409);
  repository.commit({ 'skills/tea/SKILL.md': TEA.replace('two', 'nine') });
  const done = await page.send('/updates', '/updates/apply');
  expect(textOf(done.text)).toContain('tea is updated');
  expect(page.tea()).toBe(LONGER);
  const last = (await page.registry.history.revisions('tea')).at(-1);
  expect(last).toMatchObject({ kind: 'updated', by: 'person:ada', reason: 'review page' });
});
