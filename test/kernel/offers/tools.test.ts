import { CodedError, defineTool, runTool, type ToolResult, z } from 'skill-registry/kernel';
import { describe, expect, test } from 'vitest';
import { bootTree, codesOf, extension, problemsOf } from '../boot/boot-extensions.ts';

const CALL = { turn: { agentId: 'me' }, signal: new AbortController().signal };

function tool(execute: () => unknown, input: z.ZodType = z.unknown()) {
  return defineTool({ name: 'sample', description: '', input, execute: async () => execute() as ToolResult });
}

describe('runTool', () => {
  test('hands over checked arguments, with defaults, and the call', async () => {
    const input = z.strictObject({ text: z.string(), times: z.number().default(2) });
    const repeat = defineTool({
      name: 'repeat',
      description: '',
      input,
      execute: async ({ text, times }, { turn }) => ({ success: true, text: text.repeat(times), by: turn.agentId }),
    });
    expect(await runTool(repeat, { text: 'ab' }, CALL)).toEqual({ success: true, text: 'abab', by: 'me' });
  });

  test.each<[what: string, args: unknown, field: string]>([
    ['a field is missing', {}, 'text'],
    ['a field has the wrong type', { text: 1 }, 'text'],
    ['a field is unknown', { text: 'a', txet: 'b' }, 'txet'],
    ['they are text', '{"text":"a"}', 'expected object'],
    ['they are absent', undefined, 'expected object'],
  ])('answers INVALID_ARGUMENT when %s', async (_, args, field) => {
    const checked = tool(() => ({ success: true }), z.strictObject({ text: z.string() }));
    const result = await runTool(checked, args, CALL);
    expect(result).toMatchObject({ success: false, error: { code: 'INVALID_ARGUMENT' } });
    expect(JSON.stringify(result)).toContain(field);
  });

  test('waits for a check that is asynchronous', async () => {
    const input = z.string().refine(async (value) => value !== 'bad', 'not that one');
    const checked = tool(() => ({ success: true }), input);
    expect(await runTool(checked, 'good', CALL)).toEqual({ success: true });
    expect(await runTool(checked, 'bad', CALL)).toMatchObject({ error: { code: 'INVALID_ARGUMENT' } });
  });

  test.each<[what: string, thrown: unknown, code: string, message: string]>([
    ['a coded error', new CodedError('GONE', 'It is gone.'), 'GONE', 'It is gone.'],
    [
      'any other error',
      new Error('no luck'),
      'TOOL_FAILED',
      'Tool sample failed: no luck. Part of it may have been done. Call it again only with other arguments; else tell the user.',
    ],
    [
      'something else',
      'words',
      'TOOL_FAILED',
      'Tool sample failed: words. Part of it may have been done. Call it again only with other arguments; else tell the user.',
    ],
  ])('answers with a code when the tool throws %s', async (_, thrown, code, message) => {
    const throwing = tool(() => {
      throw thrown;
    });
    expect(await runTool(throwing, {}, CALL)).toEqual({ success: false, error: { code, message } });
  });

  test('answers TOOL_FAILED when the check itself throws', async () => {
    const input = z.string().transform(() => {
      throw new Error('broken check');
    });
    expect(
      await runTool(
        tool(() => ({ success: true }), input),
        'a',
        CALL,
      ),
    ).toMatchObject({ error: { code: 'TOOL_FAILED' } });
    const none = { ...tool(() => ({ success: true })), input: undefined as never };
    expect(await runTool(none, 'a', CALL)).toMatchObject({ error: { code: 'TOOL_FAILED' } });
  });

  test.each<[what: string, result: unknown, wrong: string]>([
    ['nothing', undefined, 'returned nothing,'],
    ['null', null, 'returned nothing,'],
    ['text', 'done', 'returned a string,'],
    ['an object without success', { done: true }, 'returned no "success",'],
    ['success that is text', { success: 'yes' }, '"success" that is neither true nor false'],
    ['a failure without its error', { success: false }, 'without an "error" that has "code" and "message"'],
    ['a failure whose error is text', { success: false, error: 'no' }, 'without an "error" that has "code"'],
    ['a failure without a code', { success: false, error: { message: 'no' } }, 'without an "error" that has "code"'],
  ])(
    'answers TOOL_RESULT_INVALID when the tool returns %s, with what is wrong and what to return',
    async (_, result, wrong) => {
      expect(
        await runTool(
          tool(() => result),
          {},
          CALL,
        ),
      ).toMatchObject({
        success: false,
        error: {
          code: 'TOOL_RESULT_INVALID',
          message: expect.stringMatching(/^Tool sample ran .* toolError\(code, message\)\.$/),
        },
      });
      expect(
        JSON.stringify(
          await runTool(
            tool(() => result),
            {},
            CALL,
          ),
        ).replaceAll('\\"', '"'),
      ).toContain(wrong);
    },
  );

  test('passes on a failure the tool returns', async () => {
    const failure = { success: false, error: { code: 'NO', message: 'Not now.' } };
    expect(
      await runTool(
        tool(() => failure),
        {},
        CALL,
      ),
    ).toBe(failure);
  });
});

describe('the tools of a kernel', () => {
  const offering = (id: string, ...names: readonly string[]) => {
    const tools = names.map(
      (name) =>
        `defineTool({ name: '${name}', description: 'By ${id}', input: z.object({}), execute: async () => ({ success: true }) })`,
    );
    return extension(id, '', `getTools() { return [${tools.join(', ')}]; }`);
  };

  test('are those of every running extension, in order of start', async () => {
    const kernel = await bootTree({ ...offering('b', 'three'), ...offering('a', 'two', 'one'), ...extension('none') });
    expect(kernel.tools().map(({ extensionId, tool: { name } }) => `${extensionId} ${name}`)).toEqual([
      'a two',
      'a one',
      'b three',
    ]);
  });

  test('have one name each: the second is reported and not offered', async () => {
    const kernel = await bootTree({ ...offering('a', 'same'), ...offering('b', 'same', 'own') });
    expect(kernel.tools().map(({ tool: { name, description } }) => `${name} ${description}`)).toEqual([
      'same By a',
      'own By b',
    ]);
    expect(problemsOf(kernel)).toMatchObject([
      {
        code: 'TOOL_NAME_TAKEN',
        severity: 'error',
        details: { id: 'b' },
        message: expect.stringContaining('"same", a name that "a"'),
      },
    ]);
  });

  test('lack those of a provider that throws, which is reported', async () => {
    const kernel = await bootTree({
      ...extension('bad', '', `getTools() { throw new Error('none today'); }`),
      ...offering('good', 'one'),
    });
    expect(kernel.tools().map(({ tool: { name } }) => name)).toEqual(['one']);
    expect(problemsOf(kernel)).toMatchObject([
      { code: 'TOOL_PROVIDER_FAILED', details: { id: 'bad' }, message: expect.stringContaining('none today') },
    ]);
  });

  test.each(['Add', 'add-one', 'add one', '', '1st'])(
    'lack one with the name %j, which no endpoint takes',
    async (name) => {
      const kernel = await bootTree(offering('bad', 'fine', name));
      expect(kernel.tools().map(({ tool }) => tool.name)).toEqual(['fine']);
      expect(problemsOf(kernel)).toMatchObject([{ code: 'TOOL_PROVIDER_FAILED', details: { id: 'bad' } }]);
      expect(problemsOf(kernel)[0]?.message).toContain(`a tool "${name}" that is left out`);
    },
  );

  test('lack one whose input is no schema, and say so', async () => {
    const kernel = await bootTree(
      extension(
        'bad',
        '',
        `getTools() { return [{ name: 'odd', description: '', input: {}, execute: async () => ({ success: true }) }]; }`,
      ),
    );
    expect(kernel.tools()).toEqual([]);
    expect(problemsOf(kernel)[0]?.message).toContain('its input is no zod schema, such as z.strictObject({})');
  });

  test('lack one without the function that does it, and say so', async () => {
    const kernel = await bootTree(
      extension(
        'bad',
        '',
        `getTools() { return [{ name: 'odd', description: '', input: z.object({}), handler() {} }]; }`,
      ),
    );
    expect(kernel.tools()).toEqual([]);
    expect(problemsOf(kernel)[0]?.message).toContain('a tool "odd" that is left out: it has no function execute');
  });

  test('are asked for anew each time', async () => {
    const members = `names = ['one']; getTools() {
      return this.names.map((name) => defineTool({ name, description: '', input: z.object({}), execute: async () => { this.names.push('more'); return { success: true }; } }));
    }`;
    const kernel = await bootTree(extension('growing', '', members));
    const [first] = kernel.tools();
    if (first) await runTool(first.tool, {}, CALL);
    expect(kernel.tools().map(({ tool: { name } }) => name)).toEqual(['one', 'more']);
    expect(codesOf(kernel)).toEqual([]);
  });
});
