import type { Hub } from './hub.ts';

type Fields = Readonly<Record<string, string>>;

export interface HubBrowser {
  /** Of the answer to the token. */
  readonly status: number | undefined;
  /** The cookie that it got. */
  readonly attributes: string;
  get(path: string): Promise<{ readonly status: number; readonly text: string; readonly location: string | null }>;
  /** Of a form of this page. */
  field(page: string, name: string): string;
  post(path: string, fields: Fields, headers?: Fields): Promise<Response>;
}

/** A browser at the page of a hub. @param by - It enters with this token, or each request has these headers. */
export async function enter({ url }: Pick<Hub, 'url'>, by: string | Fields): Promise<HubBrowser> {
  const send = (path: string, fields: Fields, headers: Fields = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: url, 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(fields).toString(),
    });
  const entered = typeof by === 'string' ? await send('/enter', { token: by }) : undefined;
  const attributes = entered?.headers.get('set-cookie') ?? '';
  const own: Fields = typeof by === 'string' ? { cookie: attributes.split(';')[0] ?? '' } : by;
  return {
    status: entered?.status,
    attributes,
    async get(path: string) {
      const response = await fetch(`${url}${path}`, { redirect: 'manual', headers: own });
      return { status: response.status, text: await response.text(), location: response.headers.get('location') };
    },
    field: (page: string, name: string): string =>
      new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? `no ${name}`,
    post: (path: string, fields: Fields, headers: Fields = {}) => send(path, fields, { ...own, ...headers }),
  };
}
