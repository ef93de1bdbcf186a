import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { download, downloadIfChanged, type OriginHeaders } from '../../../lib/fetch/index.ts';

const SECRET = 'Tok3n-of-Somebody';

/** One server at every name of this machine: tells which name and which header each request had. */
async function everyName(answer: RequestListener = (_request, response) => void response.end('there')) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host?.replace(/:\d+$/, '')} ${request.headers.authorization ?? '-'}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { asked, port: (server.address() as AddressInfo).port };
}

const headersOf = (url: string): OriginHeaders => {
  return { origin: new URL(url).origin, values: { authorization: `Bearer ${SECRET}` }, secrets: [SECRET] };
};

it('sends the headers to their origin, with and without an ETag', async () => {
  const { asked, port } = await everyName();
  const url = `http://127.0.0.1:${port}/`;
  await download(url, 100, { headers: headersOf(url) });
  await downloadIfChanged(url, 100, { headers: headersOf(url), etag: '"1"' });
  expect(asked).toEqual(Array(2).fill(`127.0.0.1 Bearer ${SECRET}`));
});

/** What leads to the same origin, in other words. */
const SAME = ['/b', 'b', '//LOCALHOST:PORT/b', 'HTTP://LocalHost:PORT/b', 'http://localhost:PORT/../b?x#y'];

it.each(SAME)('sends them on after a redirection to %s', async (to) => {
  const { asked, port } = await everyName((request, response) => {
    if (request.url === '/a') response.writeHead(302, { location: to.replace('PORT', String(port)) });
    response.end('there');
  });
  const url = `http://localhost:${port}/a`;
  expect(String(await download(url, 100, { headers: headersOf(url) }))).toBe('there');
  expect(asked).toEqual(Array(2).fill(`localhost Bearer ${SECRET}`));
});

/** What leads elsewhere, though some of it looks like the same place. */
const ELSEWHERE = [
  ['another host', 'http://127.0.0.1:PORT/b'],
  ['another host, without a scheme', '//127.0.0.1:PORT/b'],
  ['an IPv6 address', 'http://[::1]:PORT/b'],
  ['an IPv4 address in IPv6', 'http://[::ffff:127.0.0.1]:PORT/b'],
  ['another port', 'http://localhost:OTHER/b'],
  ['another host with backslashes', '\\\\127.0.0.1:PORT\\b'],
] as const;

it.each(ELSEWHERE)('sends them no further when it is led to %s', async (_name, to) => {
  const other = await everyName();
  const { asked, port } = await everyName((request, response) => {
    const location = to.replace('PORT', String(port)).replace('OTHER', String(other.port));
    if (request.url === '/a') response.writeHead(302, { location });
    response.end('there');
  });
  const url = `http://localhost:${port}/a`;
  expect(String(await download(url, 100, { headers: headersOf(url) }))).toBe('there');
  const [first, ...later] = [...asked, ...other.asked];
  expect(first).toBe(`localhost Bearer ${SECRET}`);
  expect(later).toEqual([expect.stringMatching(/ -$/)]);
});

it.each(['http://localhost.:PORT', 'https://localhost:PORT', 'http://localhost', 'http://[::1]:PORT', 'null'])(
  'sends none that are of %s',
  async (origin) => {
    const { asked, port } = await everyName();
    const headers = { ...headersOf('http://x'), origin: origin.replace('PORT', String(port)) };
    await download(`http://localhost:${port}/`, 100, { headers });
    expect(asked).toEqual(['localhost -']);
  },
);

it('sends them no more after it was elsewhere, even to their origin', async () => {
  const other = await everyName(
    (_request, response) => void response.writeHead(302, { location: `http://localhost:${port}/c` }).end(),
  );
  const { asked, port } = await everyName((request, response) => {
    if (request.url === '/a') response.writeHead(302, { location: `http://localhost:${other.port}/b` });
    response.end('there');
  });
  const url = `http://localhost:${port}/a`;
  await download(url, 100, { headers: headersOf(url) });
  expect([...asked, ...other.asked]).toEqual([`localhost Bearer ${SECRET}`, 'localhost -', 'localhost -']);
});

const REFUSED = [
  ['a user name', 'http://localhost@127.0.0.1:PORT/b'],
  ['a password', 'http://localhost:PORT@127.0.0.1/b'],
  ['http beyond this machine', 'http://192.0.2.1/b'],
  ['an address with the secret', `http://localhost:PORT/?x=${SECRET}`],
  ['a host with the secret', `https://${SECRET}.example.com/`],
  ['no address', 'http://['],
] as const;

it.each(REFUSED)('goes nowhere when it is led to %s, and repeats no secret', async (_name, to) => {
  const { asked, port } = await everyName(
    (_request, response) => void response.writeHead(302, { location: to.replace('PORT', String(port)) }).end(),
  );
  const url = `http://localhost:${port}/a`;
  const error = await download(url, 100, { headers: headersOf(url) }).catch((one: Error) => one);
  expect(error).toMatchObject({ code: 'ORIGIN_REFUSED' });
  expect(String(error).toLowerCase()).not.toContain(SECRET.toLowerCase());
  expect(asked).toHaveLength(1);
});

it('goes over https to the same host and port without them', async () => {
  const { asked, port } = await everyName((request, response) => {
    if (request.url === '/a') response.writeHead(302, { location: `https://localhost:${port}/b` });
    response.end();
  });
  const url = `http://localhost:${port}/a`;
  // The server speaks no TLS, so nothing but the first request is one.
  await expect(download(url, 100, { headers: headersOf(url) })).rejects.toMatchObject({ code: 'ORIGIN_UNAVAILABLE' });
  expect(asked).toHaveLength(1);
});

it.each([
  ['its body', (secret: string) => [{}, `Hello ${secret}.`] as const],
  ['its ETag', (secret: string) => [{ etag: `"${secret}"` }, 'Hello.'] as const],
])('takes no answer that repeats the secret in %s', async (_name, answer) => {
  const { port } = await everyName((request, response) => {
    const [headers, body] = answer(String(request.headers.authorization).replace('Bearer ', ''));
    response.writeHead(200, headers).end(body);
  });
  const url = `http://localhost:${port}/a`;
  const error = await download(url, 100, { headers: headersOf(url) }).catch((one: Error) => one);
  expect(error).toMatchObject({ code: 'ORIGIN_REFUSED', message: expect.stringMatching(/repeats a secret/) });
  expect(String(error)).not.toContain(SECRET);
});

it.each([401, 403])('says of a %s whether headers were sent, and what to do', async (status) => {
  const { port } = await everyName((_request, response) => void response.writeHead(status).end(SECRET));
  const url = `http://localhost:${port}/a`;
  const messageOf = async (headers?: OriginHeaders): Promise<string> => {
    const error = await download(url, 100, { headers }).catch((one: Error) => one);
    expect(error).toMatchObject({ code: 'ORIGIN_UNAVAILABLE', details: { status } });
    return String(error);
  };
  expect(await messageOf(headersOf(url))).toMatch(/does not accept what was sent as authorization/);
  expect(await messageOf(headersOf('https://example.com'))).toMatch(/are sent to https:\/\/example\.com alone/);
  expect(await messageOf()).toMatch(/wants a login\. Name a header with a secret/);
});
