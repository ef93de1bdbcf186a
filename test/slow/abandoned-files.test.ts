import { existsSync, lstatSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { isTemporaryName } from '../../lib/files/index.ts';
import { spawnCommand } from '../helpers/run-command.ts';
import { TEA } from '../helpers/tea.ts';
import { atEndOfSuite, tempFolder } from '../helpers/temp-folder.ts';

const DIE = pathToFileURL(join(import.meta.dirname, '../helpers/die-at-call.mjs')).href;

/** Temporary files directly in a folder. */
const leftIn = (dir: string): readonly string[] =>
  existsSync(dir)
    ? readdirSync(dir).filter((name) => isTemporaryName(name) && lstatSync(join(dir, name)).isFile())
    : [];

interface Case {
  /** Below the root. */
  readonly folder: string;
  readonly killed: readonly string[];
  /** Writes the same file again. */
  readonly next: readonly string[];
}

const from = tempFolder(
  { 'tea/SKILL.md': TEA, 'chai/SKILL.md': TEA.replace('name: tea', 'name: chai') },
  atEndOfSuite(),
);
const publish = ['publish', '--to', 'public'];
const add = (id: string): readonly string[] => ['add', join(from, id), '--yes'];

it.each<[string, Case]>([
  ['skills-lock.json', { folder: '', killed: add('tea'), next: add('chai') }],
  ['config.yaml', { folder: 'data/skill_registry', killed: ['disable', 'mint'], next: ['disable', 'mint'] }],
  ['index.json', { folder: 'public/.well-known/agent-skills', killed: publish, next: publish }],
])('what a killed command leaves beside %s goes when that folder is next written', async (name, one) => {
  const root = tempFolder({
    'skills/mint/SKILL.md': TEA.replace('name: tea', 'name: mint'),
    'data/skill_registry/config.yaml': 'sources:\n  - path: skills\n',
  });
  const dir = join(root, one.folder);
  await spawnCommand(publish, { cwd: root });
  const environment = { NODE_OPTIONS: `--import ${DIE}`, DIE_AT: '1', DIE_NAME: name };
  expect(await spawnCommand(one.killed, { cwd: root, environment })).toMatchObject({ status: null });
  const [left, ...others] = leftIn(dir);
  expect([left, others]).toEqual([expect.stringContaining('.tmp'), []]);
  const then = new Date(Date.now() - 7_200_000);
  utimesSync(join(dir, left as string), then, then);
  expect(await spawnCommand(one.next, { cwd: root })).toMatchObject({ status: 0 });
  expect(leftIn(dir)).toEqual([]);
});
