import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CodedError, defineTool, runTool, type ToolResult, z } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { withoutPaths } from '../../kernel/host.ts';
import { reserve } from '../../lib/files/index.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const CALL = { turn: {}, signal: new AbortController().signal };

function openRoot(): string {
  const root = tempFolder();
  const reservation = reserve(root);
  onTestFinished(() => reservation.release());
  return root;
}

it('tells what lies in a root relative to it, also in our own messages', () => {
  const root = openRoot();
  const tell = (message: string): string => withoutPaths(new CodedError('GONE', message));
  expect(tell(`The history in ${root}/data/skill_registry/history.db cannot be used.`)).toBe(
    'The history in data/skill_registry/history.db cannot be used.',
  );
  expect(tell(`${root} is no folder, nor is "${root}-old/x" or file://${root}/a.`)).toBe(
    `. is no folder, nor is "${root}-old/x" or a.`,
  );
  expect(tell(`Below ${homedir()}/skills`)).toBe('Below ~/skills');
  // What a message quotes of a file stays what it is.
  for (const said of [
    'line 3: "#!/usr/bin/env node"',
    'see https://acme.io/a/b',
    '/skills reload',
    'text/markdown',
    'a/b/c',
  ])
    expect(tell(said)).toBe(said);
});

it.each<[string, () => unknown, string]>([
  ['the file system', () => readFileSync('/etc/no/such file'), "ENOENT: no such file or directory, open '…/such file'"],
  [
    'an import',
    () => new Error("Cannot find module '/srv/x/y.js' imported from /srv/x/main.js"),
    "Cannot find module '…/y.js' imported from …/main.js",
  ],
  ['a module address', () => new Error('Cannot load file:///srv/x/y.js:3'), 'Cannot load …/y.js:3'],
  ['Windows', () => new Error('EPERM: C:\\Users\\ada\\x.md'), 'EPERM: …/x.md'],
  [
    'an address',
    () => new Error('POST https://acme.io/v1/chat failed (text/html), and/or timed out'),
    'POST https://acme.io/v1/chat failed (text/html), and/or timed out',
  ],
])('keeps of a path in an error of %s the last segment', async (_title, make, told) => {
  const thrown = (): never => {
    const error = make();
    throw error;
  };
  const failing = defineTool({ name: 'failing', description: '', input: z.unknown(), execute: async () => thrown() });
  expect(await runTool(failing, {}, CALL)).toEqual({
    success: false,
    error: { code: 'TOOL_FAILED', message: expect.stringContaining(`Tool failing failed: ${told}. `) },
  });
});

it('is what a tool answers whose failure names the root', async () => {
  const root = openRoot();
  const error = { code: 'NO', message: `Not in ${join(root, 'skills')}.` };
  const failing = defineTool({
    name: 'failing',
    description: '',
    input: z.unknown(),
    execute: async (): Promise<ToolResult> => ({ success: false, error }),
  });
  expect(await runTool(failing, {}, CALL)).toEqual({
    success: false,
    error: { code: 'NO', message: 'Not in skills.' },
  });
});
