import { expect, it } from 'vitest';
import { readPolicy } from '../../../extensions/skill_registry/features/policy/rules.ts';

const ruled = (lists: object) => readPolicy(JSON.stringify({ version: 1, ...lists }));
const GITHUB = 'https://github.com/acme/x';
const PAGE = 'https://skills.example.com/lab';

it.each([
  ['sources', 'acme/x@main'],
  ['sources', 'acme/x#main'],
  ['sources', `${GITHUB}#main`],
  ['sources', `${GITHUB}/tree/main`],
  ['sources', 'https://gitlab.com/acme/x/-/tree/main'],
  ['sources', 'https://github.com/acme'],
  ['sources', 'github.com/acme'],
  ['sources', 'acme'],
  ['sources', 'acme/*'],
  ['sources', 'npm:x@1'],
  ['sources', 'npm:@acme/*'],
  ['sources', ' acme/x'],
  ['sources', `${PAGE}/.well-known/agent-skills/index.json`],
  ['owners', 'acme corp'],
  ['owners', ' acme'],
  ['owners', 'github.com'],
  ['owners', 'https://gitlab.com/acme'],
  ['owners', 'gitlab.com/acme/x'],
  ['owners', 'npm:@acme'],
  ['owners', '@acme/x'],
  ['ids', 'skills:tea'],
  ['ids', 'deploy-*'],
])('is wrong with an entry of %s that can match nothing: %s', (list, name) => {
  for (const rule of ['allowed', 'denied'])
    expect(ruled({ [rule]: { [list]: [name] } })).toMatch(new RegExp(`^${rule}.${list}.0: expected `));
});

it.each([
  ['sources', 'acme/x', GITHUB],
  ['sources', 'acme/x/', GITHUB],
  ['sources', 'Acme/x.git', GITHUB],
  ['sources', 'https://GitHub.com/acme/x.git/', GITHUB],
  ['sources', 'https://github.com./acme/x', GITHUB],
  ['sources', GITHUB, 'https://github.com./Acme/x'],
  ['sources', 'git@github.com:acme/x.git', GITHUB],
  ['sources', `${PAGE}/`, PAGE],
  ['sources', 'https://Skills.Example.com./lab', PAGE],
  ['sources', 'https://skills.example.com', 'https://skills.example.com'],
  ['sources', 'http://127.0.0.1:8080/lab', 'http://127.0.0.1:8080/lab'],
  ['sources', 'npm:@acme/x', 'npm:@acme/x'],
  ['sources', 'mcp:npx#0123abcd', 'mcp:npx#0123abcd'],
  ['sources', `${GITHUB}/archive/v1.tar.gz`, `${GITHUB}/archive/v1.tar.gz`],
  ['sources', '/srv/skills', '/srv/skills'],
  ['sources', '.', '.'],
  ['owners', 'Acme', GITHUB],
  ['owners', 'acme/', GITHUB],
  ['owners', 'github.com/acme/', GITHUB],
  ['owners', '2024', 'https://github.com/2024/x'],
  ['owners', '@Acme', 'npm:@acme/x'],
  ['owners', 'GitLab.com./acme/', 'https://gitlab.com/acme/x'],
  ['owners', 'gitlab.com', 'https://gitlab.com./acme/x'],
  ['owners', '127.0.0.1:8080', 'http://127.0.0.1:8080/lab'],
  ['owners', '[::1]:8080', 'http://[::1]:8080/lab'],
  ['owners', '.', '.'],
])('denies by %s: %s is %s', (list, name, source) => {
  const policy = ruled({ denied: { [list]: [name] } });
  if (typeof policy === 'string') expect.unreachable(policy);
  expect(policy.refuses({ id: 'tea', sources: [source] })).toMatch(/^denies /);
});
