import { describe, expect, test } from 'vitest';
import { agentExtension, bootTree, codesOf, extension, problemsOf } from '../boot/boot-extensions.ts';

/** An extension with one command; `body` is what `execute(args, turn)` does. */
function offering(id: string, name: string, body: string, more = '') {
  const members = `getCommands() { return [{ name: '${name}', description: 'From ${id}', ${more} execute: async (args, turn) => { ${body} } }]; }`;
  return extension(id, '', members);
}
const say = (text: string): string => `return { kind: 'print', text: ${JSON.stringify(text)} };`;
const ECHO = `return { kind: 'print', text: JSON.stringify([args, turn]) };`;

describe('a line', () => {
  test.each<[line: string, args: string]>([
    ['/echo', ''],
    ['/echo one', 'one'],
    ['  /echo   one  two  ', 'one  two'],
    ['/echo\tone', 'one'],
    ['/echo one\ntwo', 'one\ntwo'],
    ['echo one', 'one'],
  ])('%j runs the command with the rest of it', async (line, args) => {
    const kernel = await bootTree(offering('one', 'echo', ECHO));
    const turn = { channelId: 'test', userId: 'me' };
    expect(await kernel.runCommand(line, turn)).toEqual({ kind: 'print', text: JSON.stringify([args, turn]) });
  });

  test.each(['/nothing', '/', '', '/Help', '//help', '/helpme'])('%j names no command', async (line) => {
    const kernel = await bootTree({});
    await expect(kernel.runCommand(line, {})).rejects.toMatchObject({ code: 'COMMAND_NOT_FOUND' });
  });
});

describe('a command that goes wrong', () => {
  test.each<[what: string, body: string, code: string, message: string]>([
    ['throws', `throw new Error('no luck');`, 'COMMAND_FAILED', '/bad of extension "one" failed: no luck'],
    [
      'throws something else than an error',
      `throw 'words';`,
      'COMMAND_FAILED',
      '/bad of extension "one" failed: words',
    ],
    ['throws a coded error', `throw new CodedError('MINE', 'on purpose');`, 'MINE', 'on purpose'],
  ])('and %s becomes an error with a code', async (_, body, code, message) => {
    const kernel = await bootTree(offering('one', 'bad', body));
    await expect(kernel.runCommand('/bad', {})).rejects.toMatchObject({ code, message });
  });

  test('and is not asynchronous becomes COMMAND_FAILED too', async () => {
    const members = `getCommands() { return [{ name: 'bad', description: '', execute() { throw new Error('at once'); } }]; }`;
    const kernel = await bootTree(extension('one', '', members));
    await expect(kernel.runCommand('/bad', {})).rejects.toMatchObject({
      code: 'COMMAND_FAILED',
      details: { extensionId: 'one' },
    });
  });
});

describe('a name that is taken', () => {
  test('stays with the kernel, and the extension is told', async () => {
    const kernel = await bootTree(offering('one', 'help', say('mine')));
    expect(problemsOf(kernel)).toMatchObject([
      {
        code: 'COMMAND_SHADOWED',
        severity: 'warning',
        details: { id: 'one' },
        message: expect.stringContaining('/help, a command that kernel already has'),
      },
    ]);
    expect(await kernel.runCommand('/help', {})).toMatchObject({ text: expect.stringContaining('/quit') });
  });

  test('stays with the extension that started first', async () => {
    const kernel = await bootTree({ ...offering('a', 'same', say('a')), ...offering('b', 'same', say('b')) });
    expect(problemsOf(kernel)).toMatchObject([{ code: 'COMMAND_SHADOWED', details: { id: 'b' } }]);
    expect(await kernel.runCommand('/same', {})).toEqual({ kind: 'print', text: 'a' });
    await kernel.runCommand('/same', {});
    expect(kernel.undelivered()).toEqual([]);
  });

  test.each<[kind: string, more: string, codes: readonly string[]]>([
    ['a command', '', ['COMMAND_SHADOWED']],
    ['a hidden command, which stays silent', 'hidden: true,', []],
  ])('as an alias is lost to %s', async (_, more, codes) => {
    const kernel = await bootTree(offering('one', 'mine', say('mine'), `aliases: ['help'], ${more}`));
    expect(codesOf(kernel)).toEqual(codes);
    expect(await kernel.runCommand('/help', {})).toMatchObject({ text: expect.stringContaining('/quit') });
    expect(await kernel.runCommand('/mine', {})).toEqual({ kind: 'print', text: 'mine' });
  });
});

describe('a base command', () => {
  test('/help lists every command that is not hidden', async () => {
    const kernel = await bootTree({
      ...offering('one', 'greet', say('hi'), `usage: '<name>',`),
      ...offering('two', 'secret', say('psst'), 'hidden: true,'),
    });
    const { text, atWidth } = (await kernel.runCommand('/help', {})) as {
      text: string;
      atWidth(columns: number): string;
    };
    expect(text.split('\n')).toEqual([
      '  /help, /?        This list',
      '  /context <text>  The system text a turn with this text would carry, part by part',
      '  /tools           The tools agents can be given',
      '  /agents [id]     The agents; with an id, speak to that one from now on',
      '  /extensions      The extensions, their state, and why one is not running',
      '  /new             Forget this conversation',
      '  /quit, /exit     Leave',
      '  /greet <name>    From one',
      '',
      'Anything else is said to the agent.',
    ]);
    expect(atWidth(60).split('\n').slice(1, 4)).toEqual([
      '  /context <text>  The system text a turn with this text',
      '                   would carry, part by part',
      '  /tools           The tools agents can be given',
    ]);
    expect(atWidth(40).split('\n').slice(0, 2)).toEqual(['  /help, /?', '      This list']);
    expect(await kernel.runCommand('/secret', {})).toEqual({ kind: 'print', text: 'psst' });
    expect(kernel.commands().map(({ name }) => name)).toContain('secret');
  });

  test('/tools and /agents show what there is', async () => {
    const members = `getTools() { return [defineTool({ name: 'add', description: 'Adds.\\nMore.', input: z.object({}), execute: async () => ({ success: true }) })]; }`;
    const kernel = await bootTree({
      ...extension('calc', '', members),
      ...agentExtension('helper', '', 'description: Helps'),
      ...agentExtension('talker', 'integration_mode: handoff\nuses_skills: []'),
    });
    expect(await kernel.runCommand('/tools', {})).toEqual({ kind: 'print', text: '  add  (calc)  Adds.' });
    expect(await kernel.runCommand('/agents', {})).toEqual({
      kind: 'print',
      text: '  helper  (tool)  Helps\n  talker  (handoff)    skills: none',
    });
    expect(await kernel.runCommand('/agents helper', {})).toEqual({ kind: 'agent', agentId: 'helper' });
    expect(await kernel.runCommand('/agents gone', {})).toEqual({
      kind: 'print',
      text: 'No agent "gone". Agents: helper, talker.',
    });
  });

  test.each<[line: string, result: object]>([
    ['/tools', { kind: 'print', text: 'No tools.' }],
    ['/agents', { kind: 'print', text: 'No agents.' }],
    ['/context hello', { kind: 'print', text: 'There is no agent to show the context of.' }],
    ['/new', { kind: 'new' }],
    ['/quit', { kind: 'quit' }],
  ])('%s works where there is nothing', async (line, result) => {
    const kernel = await bootTree({});
    expect(await kernel.runCommand(line, {})).toEqual(result);
    expect(codesOf(kernel)).toEqual([]);
  });

  test('/context shows the parts of the system text of the agent spoken to', async () => {
    const kernel = await bootTree({
      ...agentExtension('talker', 'integration_mode: handoff\ninstructions: Be kind.'),
      ...agentExtension('other', 'instructions: Be brief.'),
      ...extension('weather', '', 'async getContext(prompt, turn) { return turn.agentId + " asks " + prompt; }'),
    });
    const { text } = (await kernel.runCommand('/context rain', {})) as { text: string };
    expect(text).toMatch(
      /^=== talker \(\d+ tokens\) ===\nBe kind\.\n\n=== weather \(\d+ tokens\) ===\ntalker asks rain\n\n=== 2 parts, \d+ tokens, /,
    );
    expect(await kernel.runCommand('/context rain', { agentId: 'other' })).toMatchObject({
      text: expect.stringContaining('=== other ('),
    });
  });
});

test.each([
  [
    'whose name begins with a slash',
    `{ name: '/hello', description: '', execute: async () => ({ kind: 'new' }) }`,
    'slash',
  ],
  ['without the function that does it', `{ name: 'hello', description: '', handler() {} }`, 'no function execute'],
])('a command %s is left out, and the extension is told', async (_, command, reason) => {
  const fine = `{ name: 'fine', description: '', execute: async () => ({ kind: 'new' }) }`;
  const kernel = await bootTree(extension('bad', '', `getCommands() { return [${command}, ${fine}]; }`));
  expect(kernel.commands().filter(({ name }) => name.includes('hello'))).toEqual([]);
  expect(await kernel.runCommand('/fine', {})).toEqual({ kind: 'new' });
  expect(problemsOf(kernel)).toMatchObject([
    { code: 'COMMAND_PROVIDER_FAILED', message: expect.stringContaining(reason) },
  ]);
});

describe('an alias', () => {
  const more = `aliases: ['e', 'quit', 'echo two'],`;

  test('runs the command it stands for, and is told of in /help', async () => {
    const kernel = await bootTree(offering('one', 'echo', ECHO, more));
    expect(await kernel.runCommand('/e hi', {})).toEqual({ kind: 'print', text: '["hi",{}]' });
    expect(await kernel.runCommand('/exit', {})).toEqual({ kind: 'quit' });
    expect(await kernel.runCommand('/?', {})).toMatchObject({ text: expect.stringContaining('/quit, /exit') });
  });

  test('gives way to every name, and the extension is told', async () => {
    const kernel = await bootTree(offering('one', 'echo', ECHO, more));
    expect(await kernel.runCommand('/quit', {})).toEqual({ kind: 'quit' });
    expect(problemsOf(kernel)).toMatchObject([
      { code: 'COMMAND_SHADOWED', message: expect.stringContaining('offers /quit, a command that kernel already has') },
    ]);
  });

  test('of an odd kind is passed over', async () => {
    const kernel = await bootTree(offering('one', 'echo', ECHO, `aliases: [7, ' ', null],`));
    expect(await kernel.runCommand('/echo', {})).toMatchObject({ kind: 'print' });
    const none = await bootTree(offering('one', 'echo', ECHO, `aliases: 'e',`));
    expect(await none.runCommand('/help', {})).toMatchObject({ kind: 'print' });
  });
});
