import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { waitFor } from '../../helpers/wait-for.ts';
import { agentExtension, bootTree, extension, reasonOf, states } from './boot-extensions.ts';

test('an extension is told who and where it is', async () => {
  const members = `async start() {
    const { id, rootDir, extensionDir, dataDir } = this.context;
    this.context.log.info(JSON.stringify({ id, rootDir, extensionDir, dataDir }));
  }`;
  const kernel = await bootTree(extension('one', '', members));
  expect(JSON.parse(kernel.logged[0]?.slice('one '.length) ?? '')).toEqual({
    id: 'one',
    rootDir: kernel.root,
    extensionDir: join(kernel.root, 'extensions/one'),
    dataDir: join(kernel.root, 'data/one'),
  });
});

test('every level of a log reaches the host with the id of the extension', async () => {
  const entries: unknown[] = [];
  const members = `async start() { for (const level of ['debug', 'info', 'warn', 'error']) this.context.log[level]('at ' + level); }`;
  await bootTree(extension('one', '', members), { onLog: (entry) => entries.push(entry) });
  expect(entries).toEqual(
    ['debug', 'info', 'warn', 'error'].map((level) => ({ level, extensionId: 'one', message: `at ${level}` })),
  );
});

test('getSecret reads the environment before .env', async () => {
  const members = `async start() { for (const name of ['A', 'B', 'C']) this.context.log.info(name + ' ' + this.context.getSecret(name)); }`;
  const kernel = await bootTree(
    { ...extension('one', '', members), '.env': 'A=file\nB=file' },
    { environment: { A: 'environment' } },
  );
  expect(kernel.logged).toEqual(['one A environment', 'one B file', 'one C undefined']);
});

describe('getExtension', () => {
  const asking = (other: string) =>
    `async start() { this.context.log.info(this.context.getExtension('${other}').greeting); }`;

  test('gives the object of a dependency', async () => {
    const kernel = await bootTree({
      ...extension('one', '', `greeting = 'hello';`),
      ...extension('two', 'depends_on: [one]', asking('one')),
    });
    expect(kernel.logged).toEqual(['two hello']);
  });

  test('gives it already while initializing', async () => {
    const members = `async initialize({ log, getExtension }) { log.info(getExtension('one').greeting); }`;
    const kernel = await bootTree({
      ...extension('one', '', `async initialize() { this.greeting = 'ready'; }`),
      ...extension('two', 'depends_on: [one]', members),
    });
    expect(kernel.logged).toEqual(['two ready']);
  });

  test.each<[what: string, other: string]>([
    ['runs and is not in depends_on', 'one'],
    ['is not there', 'gone'],
    ['is the one that asks', 'two'],
  ])('throws EXTENSION_NOT_DECLARED for one that %s', async (_, other) => {
    const kernel = await bootTree({ ...extension('one'), ...extension('two', '', asking(other)) });
    expect(states(kernel)).toEqual(['one RUNNING', 'two ERROR']);
    expect(reasonOf(kernel, 'two')).toContain(`EXTENSION_NOT_DECLARED: Extension "two" asked for "${other}"`);
  });

  test('throws EXTENSION_NOT_RUNNING for a dependency that has stopped', async () => {
    const members = `async destroy() { setTimeout(() => {
        try { this.context.getExtension('one'); } catch (error) { this.context.log.info(error.code); }
      }, 0); }`;
    const kernel = await bootTree({
      ...extension('one'),
      ...extension('two', 'depends_on: [one]', members),
    });
    await kernel.shutdown();
    await waitFor('the question', () => kernel.logged.length > 0);
    expect(kernel.logged).toEqual(['two EXTENSION_NOT_RUNNING']);
  });

  test('throws EXTENSION_NOT_RUNNING for an agent that is only a manifest', async () => {
    const kernel = await bootTree({
      ...agentExtension('helper'),
      ...extension('two', 'depends_on: [helper]', asking('helper')),
    });
    expect(reasonOf(kernel, 'two')).toContain('EXTENSION_NOT_RUNNING');
    expect(reasonOf(kernel, 'two')).toContain('is an agent without code of its own');
  });
});
