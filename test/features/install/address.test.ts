import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lockScopes } from '../../../extensions/skill_registry/features/guard/installed.ts';
import {
  originOf,
  parseOrigin,
  shownOrigin,
  sourceFields,
} from '../../../extensions/skill_registry/features/install/address.ts';
import { readLock } from '../../../extensions/skill_registry/features/install/lock.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const [HERE] = lockScopes('/here');

const GITHUB = 'https://github.com/acme/skills.git';
const GOOD: readonly (readonly [string, object])[] = [
  ['acme/skills', { kind: 'git', url: GITHUB }],
  ['acme/skills/tea/green@v1.2', { kind: 'git', url: GITHUB, path: 'tea/green', ref: 'v1.2' }],
  ['acme/skills@feature/x', { kind: 'git', url: GITHUB, ref: 'feature/x' }],
  ['https://github.com/acme/skills', { kind: 'git', url: GITHUB }],
  ['https://github.com/acme/skills/tree/main/tea/', { kind: 'git', url: GITHUB, ref: 'main', path: 'tea' }],
  ['acme/skills/', { kind: 'git', url: GITHUB }],
  ['acme/skills.git', { kind: 'git', url: GITHUB }],
  ['acme/skills#v1', { kind: 'git', url: GITHUB, ref: 'v1' }],
  ['acme/skills/tea/SKILL.md', { kind: 'git', url: GITHUB, path: 'tea' }],
  ['github.com/acme/skills', { kind: 'git', url: GITHUB }],
  ['HTTPS://WWW.GitHub.com/acme/skills.git/', { kind: 'git', url: GITHUB }],
  ['https://github.com/acme/skills?tab=readme-ov-file#main', { kind: 'git', url: GITHUB, ref: 'main' }],
  [
    'https://github.com/acme/skills/blob/main/green%20tea/SKILL.md',
    { kind: 'git', url: GITHUB, ref: 'main', path: 'green tea' },
  ],
  ['https://github.com/acme/skills/releases/tag/v1', { kind: 'git', url: GITHUB, ref: 'v1' }],
  ['https://github.com/acme/skills/commit/0123abcd', { kind: 'git', url: GITHUB, ref: '0123abcd' }],
  [
    'https://github.com/acme/skills/archive/refs/heads/main.zip',
    { kind: 'archive', location: 'https://github.com/acme/skills/archive/refs/heads/main.zip' },
  ],
  [
    'https://gitlab.com/acme/group/skills/-/tree/main/tea?ref_type=heads',
    { kind: 'git', url: 'https://gitlab.com/acme/group/skills.git', ref: 'main', path: 'tea' },
  ],
  [
    'https://git.example.com/acme/skills/-/blob/v1/tea/SKILL.md',
    { kind: 'git', url: 'https://git.example.com/acme/skills.git', ref: 'v1', path: 'tea' },
  ],
  ['https://gitlab.com/acme/skills/', { kind: 'git', url: 'https://gitlab.com/acme/skills' }],
  ['https://git.example.com/skills.git/', { kind: 'git', url: 'https://git.example.com/skills.git/' }],
  ['./tea/SKILL.md', { kind: 'folder', path: '/here/tea' }],
  ['https://gitlab.com/acme/group/skills', { kind: 'git', url: 'https://gitlab.com/acme/group/skills' }],
  ['https://git.example.com/skills.git#v1', { kind: 'git', url: 'https://git.example.com/skills.git', ref: 'v1' }],
  ['git@example.com:acme/skills.git', { kind: 'git', url: 'git@example.com:acme/skills.git' }],
  ['ssh://git@example.com/acme/skills', { kind: 'git', url: 'ssh://git@example.com/acme/skills' }],
  ['file:///srv/skills', { kind: 'git', url: 'file:///srv/skills' }],
  ['http://127.0.0.1:8080/skills.git', { kind: 'git', url: 'http://127.0.0.1:8080/skills.git' }],
  ['npm:@acme/skills', { kind: 'npm', name: '@acme/skills', range: 'latest' }],
  ['npm:skills@^1.2.0', { kind: 'npm', name: 'skills', range: '^1.2.0' }],
  ['npm:skills@next', { kind: 'npm', name: 'skills', range: 'next' }],
  ['https://example.com', { kind: 'well-known', url: 'https://example.com' }],
  [
    'https://example.com/team/.well-known/agent-skills/index.json',
    { kind: 'well-known', url: 'https://example.com/team' },
  ],
  ['https://example.com/tea.tar.gz', { kind: 'archive', location: 'https://example.com/tea.tar.gz' }],
  ['tea.zip', { kind: 'archive', location: '/here/tea.zip' }],
  ['./tea', { kind: 'folder', path: '/here/tea' }],
  ['../tea', { kind: 'folder', path: '/tea' }],
  ['/srv/tea', { kind: 'folder', path: '/srv/tea' }],
];

it.each(GOOD)('reads %s', (text, origin) => {
  expect(parseOrigin(text, '/here')).toEqual(origin);
});

const BAD: readonly string[] = [
  '',
  'tea',
  '-x',
  '--upload-pack=touch /tmp/x',
  'acme/skills@-x',
  'acme/skills/-x',
  'acme/skills/../../x',
  'acme/skills@main..other',
  'ext::sh -c touch% /tmp/x',
  'ext::sh',
  'fd::17/x',
  'http://example.com/skills.git',
  'http://example.com',
  'http://example.com/tea.zip',
  'ftp://example.com/skills.git',
  'git://example.com/skills.git',
  'javascript:alert(1)',
  'ssh://-oProxyCommand=x/skills.git',
  'ssh://-oProxyCommand=x@example.com/skills.git',
  'git@-oProxyCommand=x:skills.git',
  'git@example.com:-x',
  '-oProxyCommand=x@example.com:skills.git',
  'https://example.com/skills.git#-x',
  'https://example.com/skills.git#a b',
  'npm:',
  'npm:../x',
  'npm:-x',
  'npm:skills@file:../x',
  'npm:skills@git+https://example.com/x.git',
  'npm:skills@https://example.com/x.tgz',
  'npm:skills@npm:other@1',
  'npm:skills@acme/other',
  'npm:skills@./x',
  'npm:skills@.',
  'npm:skills@x.tgz',
  'npm:skills.tgz',
  'npm:skills@-x',
  'https://ada:secret@example.com',
  'https://example.com/a\nb',
  'https://github.com/acme/skills/pull/3',
  'https://github.com/acme/skills/tree',
  'https://github.com/acme/skills/tree/main/..%2f..%2fx',
];

it.each(BAD.map((text) => [text]))('refuses %j', (text) => {
  expect(() => parseOrigin(text, '/here')).toThrow(expect.objectContaining({ code: 'ORIGIN_INVALID' }));
});

it('shows no password and no query, which may be a token, of an address that it refuses', () => {
  const refuse = (): unknown => parseOrigin('https://ada:secret@example.com/tea.zip?token=hidden', '/here');
  expect(refuse).toThrow(/https:\/\/example\.com\/tea\.zip\b/);
  expect(refuse).not.toThrow(/secret|hidden/);
});

it('shows no password, and keeps none in the lock', () => {
  const origin = parseOrigin('https://ada:secret@git.example.com/skills.git', '/here');
  expect(`${shownOrigin(origin)} ${JSON.stringify(sourceFields(origin, HERE))}`).not.toContain('secret');
});

it('asks which is meant where owner/repo is a folder as well', () => {
  const cwd = tempFolder({ 'acme/skills/SKILL.md': '' });
  expect(() => parseOrigin('acme/skills', cwd)).toThrow(/Write \.\/acme\/skills/);
});

it('offers two texts for a path that is here as well, and both are read as what they are offered for', () => {
  const cwd = tempFolder({ 'acme/skills/tea/x': '', 'acme/skills@v1': '', 'acme/skills/cup@v1': '' });
  const saidOf = (text: string): string => {
    try {
      return JSON.stringify(parseOrigin(text, cwd));
    } catch (error) {
      return (error as Error).message;
    }
  };
  for (const [text, expected] of [
    ['acme/skills', {}],
    ['acme/skills/tea', { path: 'tea', ref: 'HEAD' }],
    ['acme/skills@v1', { ref: 'v1' }],
    ['acme/skills/cup@v1', { path: 'cup', ref: 'v1' }],
  ] as const) {
    const [, here = '', there = ''] = /Write (\S+) for it, or (\S+) for GitHub\.$/.exec(saidOf(text)) ?? [];
    expect(parseOrigin(here, cwd)).toEqual({ kind: 'folder', path: join(cwd, text) });
    expect(parseOrigin(there, cwd)).toEqual({ kind: 'git', url: GITHUB, ...expected });
  }
});

it('takes the path of a SKILL.md that is here for that file, also with a blank, and one that is not for a repository', () => {
  const cwd = tempFolder({ 'skills/tea/SKILL.md': '', 'my skills/tea/SKILL.md': '', 'SKILL.md': '' });
  for (const folder of ['skills/tea', 'my skills/tea'])
    expect(parseOrigin(`${folder}/SKILL.md`, cwd)).toEqual({ kind: 'folder', path: join(cwd, folder) });
  expect(parseOrigin('SKILL.md', cwd)).toEqual({ kind: 'folder', path: cwd });
  expect(parseOrigin('skills/cup/SKILL.md', cwd)).toMatchObject({ kind: 'git' });
});

const HASH = 'a'.repeat(64);

it.each(GOOD.filter(([, origin]) => !('path' in origin && 'url' in origin)))(
  'finds %s again by what the lock says',
  (text, origin) => {
    const entry = { ...sourceFields(parseOrigin(text, '/here'), HERE), computedHash: HASH };
    expect(originOf(entry, '/here')).toEqual(origin);
  },
);

const EVIL: readonly (readonly [string, object])[] = [
  ['a source that is an option', { source: '--upload-pack=x', sourceType: 'git' }],
  ['an address that is a command', { source: 'x', sourceUrl: 'ext::sh -c x', sourceType: 'git' }],
  ['a repository that leads elsewhere', { source: 'acme/../../evil/x', sourceType: 'github' }],
  ['a ref that is an option', { source: 'acme/skills', sourceType: 'github', ref: '--x' }],
  ['a package of a file', { source: 'npm:x@file:..', sourceType: 'npm' }],
  ['a page over http', { source: 'x', sourceUrl: 'http://example.com', sourceType: 'well-known' }],
  ['another kind', { source: 'ext::sh', sourceType: 'new' }],
];

it.each(EVIL)('holds an entry of a lock to the same rules: %s', (_name, fields) => {
  const lock = { version: 1, skills: { tea: { ...fields, computedHash: HASH } } };
  const root = tempFolder({ 'skills-lock.json': JSON.stringify(lock) });
  const { skills, broken } = readLock(root);
  expect([skills.size, broken.get('tea')]).toEqual([0, expect.stringMatching(/^source: Skills cannot be taken from/)]);
});
