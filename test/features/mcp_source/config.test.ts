import { describe, expect, it } from 'vitest';
import { registryConfig } from '../../../extensions/skill_registry/config.ts';

const read = (source: unknown) => registryConfig.read({ sources: [source as { path: string }] }, 'config.yaml');
const SECRET = 'sk-live-0123456789';

describe('a server that can be used', () => {
  it.each([
    { command: 'skills' },
    { command: ['node', 'server.js', ''], args: ['--quiet'], env: { KEY: 'x', EMPTY: '' } },
    { url: 'http://127.0.0.1:7337/mcp' },
    { url: 'https://skills.example.com/mcp?team=a', headers: { Authorization: 'Bearer x' } },
  ])('%j', (mcp) => {
    const { config, problems } = read({ mcp, id: 'far', optional: true });
    expect(problems).toEqual([]);
    expect(config.sources).toEqual([expect.objectContaining({ mcp, id: 'far', optional: true })]);
  });
});

describe('a source that is left out as a whole, without a word of its values', () => {
  it.each([
    [{ mcp: {} }, 'either command'],
    [{ mcp: { command: 'a', url: 'http://a/' } }, 'either command'],
    [{ mcp: { command: 'a', headers: { key: SECRET } } }, 'either command'],
    [{ mcp: { url: 'http://a/', env: { KEY: SECRET } } }, 'either command'],
    [{ mcp: { url: 'http://a/', args: [SECRET] } }, 'either command'],
    [{ mcp: { command: ['', SECRET] } }, 'sources.0.mcp.command'],
    [{ mcp: { command: [] } }, 'sources.0.mcp.command'],
    // A part that is left out would make another command of it.
    [{ mcp: { command: ['rm', 5, SECRET] } }, 'sources.0.mcp.command'],
    [{ mcp: { command: 'a', args: [5, SECRET] } }, 'sources.0.mcp.args'],
    [{ mcp: { command: 'a\0b' } }, 'sources.0.mcp.command'],
    [{ mcp: { command: 'a', env: { KEY: 5, OTHER: SECRET } } }, 'sources.0.mcp.env'],
    [{ mcp: { command: 'a', env: { 'A=B': SECRET } } }, 'sources.0.mcp.env'],
    [{ mcp: { url: `http://me:${SECRET}@a/` } }, 'sources.0.mcp.url'],
    [{ mcp: { url: `ftp://a/${SECRET}` } }, 'sources.0.mcp.url'],
    [{ mcp: { url: 'http://a/', headers: { key: `a\r\n${SECRET}` } } }, 'sources.0.mcp.headers'],
    [{ mcp: { url: 'http://a/', headers: { 'a b': SECRET } } }, 'sources.0.mcp.headers'],
    [{ mcp: SECRET }, 'sources.0.mcp'],
    [{ mcp: { url: 'http://a/', headers: { key: SECRET } }, path: 'x' }, 'exactly one'],
    [{ mcp: { url: 'http://a/', headers: { key: SECRET } }, preload: true }, 'no preload with mcp'],
  ])('%j', (source, why) => {
    const { config, problems } = read(source);
    expect(config.sources).toEqual([]);
    expect(problems.map(({ code }) => code)).toContain('CONFIG_KEY_INVALID');
    expect(problems.map(({ message }) => message).join()).toContain(why);
    expect(JSON.stringify(problems)).not.toContain(SECRET);
  });
});

it('says of an unknown key only its name', () => {
  const { problems } = read({ mcp: { command: 'a', token: SECRET } });
  expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('sources.0.mcp.token')]);
  expect(JSON.stringify(problems)).not.toContain(SECRET);
});
