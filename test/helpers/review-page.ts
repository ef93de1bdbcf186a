import { type IncomingMessage, request } from 'node:http';
import { type DefaultTreeAdapterTypes as Html, parse } from 'parse5';
import { onTestFinished } from 'vitest';
import { type ReviewServerOptions, type ReviewServing, serveReview } from '../../extensions/skill_review/index.ts';
import { type TeaRegistry, teaRegistry } from './tea.ts';
import type { Tree } from './temp-folder.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ReviewPage extends TeaRegistry {
  readonly serving: ReviewServing;
  /** `http://127.0.0.1:<port>` */
  readonly base: string;
  /** As it was set; what a browser would send. */
  readonly cookie: string;
  /** A request without a cookie, exactly as it is given: no client corrects the path. */
  ask(path: string, options?: AskOptions): Promise<Answer>;
  /** A page, as somebody who was let in. */
  get(path: string): Promise<Answer>;
  /** Fills in the form of that action on a page, and sends it as a browser would. */
  send(path: string, action: string, fields?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sends fields with the token of the session; nothing else is filled in. */
  post(action: string, fields?: Readonly<Record<string, string>>, headers?: AskOptions['headers']): Promise<Answer>;
}

/** A registry over the skill `tea`, and its review page on loopback, with a person who was let in. */
export async function reviewPage(
  tree: Tree = {},
  config: Readonly<Record<string, unknown>> = {},
  options: Partial<ReviewServerOptions> = {},
): Promise<ReviewPage> {
  const opened = await teaRegistry(tree, config);
  const { registry, root } = opened;
  return { ...opened, ...(await pageOf({ registry, root, by: 'person:ada', ...options })) };
}

/** Another page over a registry, with a session of its own. */
export async function pageOf(
  options: Pick<ReviewServerOptions, 'registry' | 'root' | 'by'> & Partial<ReviewServerOptions>,
): Promise<Omit<ReviewPage, keyof TeaRegistry>> {
  const serving = await serveReview({
    isHeldReadable: () => true,
    isTrusted: () => true,
    agents: async () => [],
    ...options,
  });
  onTestFinished(() => serving.close());
  return { serving, ...(await enter(serving.url)) };
}

/** Opens the address that a review page has printed. */
export async function enter(url: string): Promise<Omit<ReviewPage, keyof TeaRegistry | 'serving'>> {
  const base = new URL(url).origin;
  const ask = (path: string, options?: AskOptions): Promise<Answer> => exactly(base, path, options);
  const entered = await ask(new URL(url).pathname);
  const cookie = (entered.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
  const get = (path: string): Promise<Answer> => ask(path, { headers: { cookie } });
  const send = (action: string, fields: object, headers: AskOptions['headers'] = {}): Promise<Answer> =>
    ask(action, {
      method: 'POST',
      body: new URLSearchParams(Object.entries(fields)).toString(),
      headers: {
        cookie,
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
        origin: 'null',
        ...headers,
      },
    });
  return {
    ...{ base, cookie, ask, get },
    async send(path, action, fields = {}) {
      const form = formsOf((await get(path)).text).find((one) => one.action === action);
      if (!form) throw new Error(`${path} has no form for ${action}`);
      return send(action, { ...form.fields, ...fields });
    },
    async post(action, fields = {}, headers) {
      const csrf = formsOf((await get('/')).text)[0]?.fields.csrf ?? '';
      return send(action, { csrf, ...fields }, headers);
    },
  };
}

/** Every element of a page, as a browser reads it. */
export function elementsOf(page: string): readonly Html.Element[] {
  const found: Html.Element[] = [];
  const walk = (node: Html.ParentNode): void => {
    for (const child of node.childNodes) {
      if ('tagName' in child) found.push(child);
      if ('childNodes' in child) walk(child);
      if ('content' in child) walk(child.content);
    }
  };
  walk(parse(page));
  return found;
}

/** The text of a page, as a browser shows it: without the tags. */
export function textOf(page: string): string {
  const texts: string[] = [];
  const walk = (node: Html.Node): void => {
    if ('value' in node) texts.push(node.value);
    if ('childNodes' in node) for (const child of node.childNodes) walk(child);
  };
  walk(parse(page));
  return texts.join('');
}

export function attributesOf(element: Html.Element): Readonly<Record<string, string>> {
  return Object.fromEntries(element.attrs.map(({ name, value }) => [name, value]));
}

interface Form {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** The forms that write, with what stands in their fields. */
export function formsOf(page: string): readonly Form[] {
  const forms: { action: string; fields: Record<string, string> }[] = [];
  for (const element of elementsOf(page)) {
    const { method, action = '', name, value = '' } = attributesOf(element);
    if (element.tagName === 'form' && method === 'post') forms.push({ action, fields: {} });
    const form = forms.at(-1);
    if (!form || name === undefined) continue;
    if (element.tagName === 'input') form.fields[name] = value;
    if (element.tagName === 'textarea')
      form.fields[name] = element.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
  }
  return forms;
}

// --- internal ---

function exactly(base: string, path: string, { method = 'GET', headers = {}, body }: AskOptions = {}): Promise<Answer> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, path, method, headers, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      answer.on('error', reject);
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
