import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { AtEnd } from './temp-folder.ts';

/** One message of a request, as it went over the wire. */
export interface WireMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

/** One request body of POST /chat/completions. */
export interface WireRequest {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly tools?: readonly {
    readonly function: { readonly name: string; readonly description: string; readonly parameters: unknown };
  }[];
  readonly [key: string]: unknown;
}

/** What the endpoint says it took; null: it says nothing. Default: 10 and 5. */
export type ScriptedUsage = { readonly input: number; readonly output: number } | null;

/** What the model answers one request with. */
export type ScriptedAnswer =
  | { readonly text: string; readonly usage?: ScriptedUsage }
  | {
      readonly call: string;
      readonly args: unknown;
      readonly usage?: ScriptedUsage;
    }
  /** Streams this much and then nothing, until the client hangs up. */
  | { readonly hangAfter: string }
  | { readonly status: number; readonly body: string };

export interface ScriptedModel {
  readonly baseURL: string;
  /** Every request so far, oldest first. */
  readonly requests: readonly WireRequest[];
  /** Environment that points the kernel here. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * An OpenAI-compatible endpoint on loopback that plays a script: real HTTP, streamed as server-sent events.
 *
 * @param script - The answers in order, or a function of the request and its 0-based number.
 */
export async function scriptedModel(
  script: readonly ScriptedAnswer[] | ((request: WireRequest, index: number) => ScriptedAnswer),
  atEnd: AtEnd = onTestFinished,
): Promise<ScriptedModel> {
  const requests: WireRequest[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const wire = JSON.parse(body) as WireRequest;
      const index = requests.push(wire) - 1;
      const answer = typeof script === 'function' ? script(wire, index) : script[index];
      if (!answer) {
        response.writeHead(500).end(`the script has no answer for request ${index}`);
        return;
      }
      if ('status' in answer) {
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const send = (data: unknown): void => void response.write(`data: ${JSON.stringify(data)}\n\n`);
      for (const chunk of chunksOf(answer, index)) send(chunk);
      if ('hangAfter' in answer) return;
      response.end('data: [DONE]\n\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const environment = { MODEL_BASE_URL: baseURL, MODEL_API_KEY: 'test-key', MODEL_NAME: 'scripted' };
  return { baseURL, requests, environment };
}

/** The system text of a request. */
export function systemText(request: WireRequest | undefined): string {
  return String(request?.messages.find((message) => message.role === 'system')?.content ?? '');
}

/** The results of tools in a request, parsed, oldest first. */
export function toolResults(request: WireRequest | undefined): readonly Record<string, unknown>[] {
  const results = request?.messages.filter((message) => message.role === 'tool') ?? [];
  return results.map((message) => JSON.parse(String(message.content)) as Record<string, unknown>);
}

// --- internal ---

function chunksOf(answer: ScriptedAnswer, index: number): readonly unknown[] {
  const chunk = (delta: unknown, finish: string | null, usage?: unknown): unknown => ({
    id: `chat-${index}`,
    object: 'chat.completion.chunk',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...(usage ? { usage } : {}),
  });
  if ('hangAfter' in answer) return [chunk({ role: 'assistant', content: answer.hangAfter }, null)];
  if ('status' in answer) return [];
  const { input, output } = answer.usage ?? { input: 10, output: 5 };
  const reported = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const usage = answer.usage === null ? undefined : reported;
  if ('text' in answer) {
    const half = Math.ceil(answer.text.length / 2);
    return [
      chunk({ role: 'assistant', content: answer.text.slice(0, half) }, null),
      chunk({ content: answer.text.slice(half) }, null),
      chunk({}, 'stop', usage),
    ];
  }
  const call = { name: answer.call, arguments: JSON.stringify(answer.args) };
  return [
    chunk(
      { role: 'assistant', tool_calls: [{ index: 0, id: `call-${index}`, type: 'function', function: call }] },
      null,
    ),
    chunk({}, 'tool_calls', usage),
  ];
}
