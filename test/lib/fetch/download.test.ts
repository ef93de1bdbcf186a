import { expect, it } from 'vitest';
import { download, downloadIfChanged } from '../../../lib/fetch/index.ts';
import { isLoopback } from '../../../lib/loopback/index.ts';
import { serve } from '../../helpers/serve.ts';

it('gives the bytes, and nothing while the ETag is the same', async () => {
  const url = await serve((request, response) => {
    if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
    else response.writeHead(200, { etag: '"1"' }).end('hello');
  });
  expect(await downloadIfChanged(url, 100)).toEqual({ bytes: Buffer.from('hello'), etag: '"1"' });
  expect(await downloadIfChanged(url, 100, { etag: '"1"' })).toBeUndefined();
  expect(String(await download(url, 5))).toBe('hello');
});

it('stops reading what is larger than the limit, whatever its length says', async () => {
  let sent = 0;
  const url = await serve((_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
    };
    response.on('drain', more);
    more();
  });
  await expect(download(url, 100_000)).rejects.toMatchObject({
    code: 'ORIGIN_REFUSED',
    message: expect.stringMatching(/more than 100000/),
  });
  expect(sent).toBeLessThan(50_000_000);
});

it('follows redirections that keep the rule, and none that leads elsewhere', async () => {
  const url = await serve((request, response) => {
    const to = {
      '/a': '/b',
      '/out': 'http://example.com/',
      '/file': 'file:///etc/passwd',
      '/round': '/round',
      '/none': 'http://[',
      '/user': `http://me:secret@${request.headers.host}/b`,
    };
    const location = to[request.url as keyof typeof to];
    if (location) response.writeHead(302, { location }).end();
    else response.end('there');
  });
  expect(String(await download(`${url}/a`, 100))).toBe('there');
  for (const path of ['/out', '/file', '/none', '/user'])
    await expect(download(url + path, 100)).rejects.toMatchObject({
      code: 'ORIGIN_REFUSED',
      message: expect.not.stringContaining('secret'),
    });
  await expect(download(`${url}/round`, 100)).rejects.toMatchObject({ code: 'ORIGIN_UNAVAILABLE' });
});

it.each(['localhost', '127.0.0.1', '127.1', '0.0.0.0', '[::1]', '[::]', '[::ffff:127.0.0.1]', 'localhost.'])(
  'is led from https elsewhere to %s over https neither',
  async (host) => {
    const leading = download(`https://${host}:1/`, 100, { from: 'https://example.com/' });
    await expect(leading).rejects.toMatchObject({
      code: 'ORIGIN_REFUSED',
      message: expect.stringMatching(/which is this machine/),
    });
  },
);

it('says what is wrong with an address that gives nothing', async () => {
  const url = await serve((request, response) => {
    if (request.url === '/half') response.writeHead(200, { 'content-length': '10' }).end('half');
    else response.writeHead(404).end();
  });
  await expect(download(url, 100)).rejects.toMatchObject({
    code: 'ORIGIN_UNAVAILABLE',
    message: expect.stringMatching(/status 404/),
  });
  await expect(download('http://127.0.0.1:1/', 100)).rejects.toMatchObject({ code: 'ORIGIN_UNAVAILABLE' });
  await expect(download('http://example.com/', 100)).rejects.toMatchObject({ code: 'ORIGIN_REFUSED' });
});

it('tells the addresses of this machine by their names', () => {
  expect(['localhost', '127.0.0.1', '127.9.9.9', '[::1]', '[::ffff:7f00:1]'].every(isLoopback)).toBe(true);
  expect(
    ['127.0.0.1.example.com', 'localhost.example.com', '10.0.0.1', '[::ffff:a00:1]', '[::2]', ''].some(isLoopback),
  ).toBe(false);
});
