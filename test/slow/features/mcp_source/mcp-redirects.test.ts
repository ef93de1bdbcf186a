import { expect, it } from 'vitest';
import { openListed, scriptedServer, servedSkill } from '../../../helpers/mcp-server.ts';
import { serve } from '../../../helpers/serve.ts';

const TEA = servedSkill('tea', { 'guide.md': 'Steep.' });
const HEADERS = { 'X-Api-Key': 'secret' };

it('follows an MCP server to another path of its address', async () => {
  const server = await scriptedServer([TEA]);
  const url = server.url.replace('/mcp', '/moved');
  const { registry } = await openListed({}, { sources: [{ id: 'far', mcp: { url, headers: HEADERS } }] });
  expect((await registry.readResource('tea', 'guide.md')).content).toBe('Steep.');
  expect(server.headers.every((headers) => headers['x-api-key'] === 'secret')).toBe(true);
});

it.each([
  ['another address', (url: string) => url, /leads to http:\/\/127\.0\.0\.1:\d+, where nothing is sent/],
  ['one with a password', (url: string) => url.replace('//', '//me:pw@'), /where nothing is sent/],
  ['what is no address', () => 'http://[', /leads to something that is no address/],
])('sends nothing, and no secret in a header, where an MCP server leads to %s', async (_title, to, why) => {
  const other = await scriptedServer([TEA]);
  for (const status of [301, 302, 303, 307, 308]) {
    const url = await serve((_request, response) => response.writeHead(status, { location: to(other.url) }).end());
    const { registry } = await openListed({}, { sources: [{ id: 'far', mcp: { url, headers: HEADERS } }] });
    expect(registry.snapshot().skills).toEqual([]);
    expect(registry.problems().map(({ code, message }) => `${code} ${message}`)).toEqual([expect.stringMatching(why)]);
  }
  expect(other.requests).toEqual([]);
  expect(other.connections()).toBe(0);
});

it('gives up an MCP server that leads to itself', async () => {
  const url = await serve((request, response) => response.writeHead(307, { location: request.url }).end());
  const { registry } = await openListed({}, { sources: [{ id: 'far', mcp: { url } }] });
  expect(registry.problems()).toMatchObject([
    { code: 'MCP_SERVER_FAILED', message: expect.stringContaining('more than 5 times') },
  ]);
});
