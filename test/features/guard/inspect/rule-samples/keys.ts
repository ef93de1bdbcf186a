import type { RuleSamples } from './sample.ts';

/** Random values; taken apart, so that this file holds no key that a scanner would report. */
const BODY = 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQy';
const HEADER = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');
const claims = (text: string): string => `${HEADER}.${Buffer.from(text).toString('base64url')}.q9Zk1rV0w_Tt2`;
const [GITHUB, AMAZON, SLACK, OPENAI] = ['ghp', 'AKIA', 'xoxb', 'sk-proj'];

export const KEYS: RuleSamples = {
  'key-or-token': {
    hits: [
      `-----BEGIN OPENSSH PRIVATE KEY-----\n${BODY}\n-----END OPENSSH PRIVATE KEY-----`,
      { 'key.json': `{ "private_key": "-----BEGIN PRIVATE KEY-----\\n${BODY}\\n" }` },
      `Use ${GITHUB}_7sKq2LmZ9XwPbT4vRnYc8DfGh1JtUa0EoI5k for the API.`,
      { 'scripts/run.sh': `export KEY=${AMAZON}4Q7ZK2MWPXN5RTYB\n` },
      { 'a.py': `TOKEN = "${claims('{"iss":"supabase","role":"service_role"}')}"\n` },
      `${SLACK}-2874619035-7Gk2mQxWzPdLrTnV`,
      `${OPENAI}-q8Rk2LmZ9XwPbT4vRnYc8DfG`,
      'postgres://ada:tr0ub4dor@db.acme.io/tea',
    ],
    misses: [
      `-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----`,
      `${GITHUB}_${'x'.repeat(36)} and ${AMAZON}IOSFODNN7EXAMPLE`,
      `${SLACK}-your-token, sk-your-moonshot-key-here, sk_live_${'x'.repeat(20)}`,
      claims('{"sub":"1234567890","name":"John Doe","iat":1516239022}'),
      claims('{"iss":"supabase","role":"anon"}'),
      'postgres://user:pass@db.acme.io, redis://app:s3cr3tly@localhost, https://ada:hunter2x@example.com',
      'The class sk-loading-indicator-of-the-page and a commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904.',
    ],
  },
};
