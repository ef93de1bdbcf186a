import type { AgentInvocationContext, KernelApi } from 'skill-registry/kernel';
import { expect, it } from 'vitest';
import { Session } from '../../extensions/cli_channel/session.ts';

const ESC = String.fromCharCode(27);

/** What stands at the terminal after an agent has answered in these parts; `tool`: it calls a tool then. */
async function answered(parts: readonly (string | { readonly tool: string })[]): Promise<string> {
  let text = '';
  const write = (more: string): void => {
    text += more;
  };
  const invokeAgent = async (_: string, __: string, { onText, onToolCall }: AgentInvocationContext = {}) => {
    for (const part of parts) typeof part === 'string' ? onText?.(part) : onToolCall?.(part.tool, { a: 1 });
    return { text: '', stopped: 'done', usage: { inputTokens: 0, outputTokens: 0 }, conversation: [] } as const;
  };
  const session = new Session({
    kernel: { invokeAgent } as unknown as KernelApi,
    agentId: 'tea',
    write,
    print: (line) => write(`${line}\n`),
    columns: () => 40,
    onNewConversation: () => undefined,
    onFailure: () => undefined,
  });
  await session.handle('Brew.');
  return text;
}

it('writes an answer as the model wrote it, with the marks of its markdown, and ends its last line', async () => {
  expect(await answered(['# Tea\n\n**Boil** fre', 'sh water'])).toBe('# Tea\n\n**Boil** fresh water\n');
  expect(await answered(['Boil.\n'])).toBe('Boil.\n');
});

it('begins a new line for a tool that is called in the middle of an answer', async () => {
  expect(await answered(['I look', { tool: 'read_skill' }, 'Done.'])).toBe('I look\n[read_skill {"a":1}]\nDone.\n');
});

it('gives the terminal no control character of a model, whole or in parts', async () => {
  const hostile = `${ESC}]8;;http://x${ESC}[2J\u202e\u0007\u009b31m`;
  expect(await answered([hostile])).toBe(await answered([...hostile]));
  expect(await answered([hostile])).toBe('\\x1b]8;;http://x\\x1b[2J\\u{202e}\\x07\\x9b31m\n');
});
