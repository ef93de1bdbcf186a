import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type NewDecision, openTrust, type Trust } from '../../../lib/trust/index.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** Everything that a line can hold, with characters of several bytes. */
const LAST: NewDecision = {
  action: 'allow',
  kind: 'finding',
  path: '/nowhere/tée',
  rule: 'shell/pipe',
  excerpt: '{"a": "}\n"} 🫖',
  by: 'person:ada',
  reason: 'Größe “geprüft” 🫖',
};
const sourceOf = (name: string): NewDecision => ({
  action: 'allow',
  kind: 'source',
  path: `https://${name}.example`,
  by: 'person:ada',
});
const OLD: readonly NewDecision[] = [
  sourceOf('one'),
  { action: 'allow', kind: 'content', path: '/nowhere', digest: `sha256:${'0'.repeat(64)}`, by: 'person:ada' },
  { ...sourceOf('two'), action: 'revoke' },
];
const NEXT = sourceOf('next');

/** A trust file with these decisions. */
function trustOf(decisions: readonly NewDecision[]): Trust {
  const trust = openTrust(join(tempFolder(), 'state'));
  for (const decision of decisions) trust.decide(decision);
  return trust;
}

/** What was decided, without when. */
const decided = (trust: Trust): readonly NewDecision[] => trust.decisions().map(({ at, ...decision }) => decision);

describe('a trust file that ends in the middle of a line', () => {
  it('keeps what was decided before and takes what is decided next, wherever the line is cut', () => {
    const trust = trustOf(OLD);
    const before = readFileSync(trust.file);
    trust.decide(LAST);
    const whole = readFileSync(trust.file);
    for (let length = before.length; length <= whole.length; length++) {
      writeFileSync(trust.file, whole.subarray(0, length));
      // Without its line feed the line has everything that was decided.
      const last = length >= whole.length - 1 ? [LAST] : [];
      expect(decided(trust), `${length} bytes`).toEqual([...OLD, ...last]);
      trust.decide(NEXT);
      expect(decided(trust), `${length} bytes, and the next line`).toEqual([...OLD, ...last, NEXT]);
      expect(trust.trouble()).toBeUndefined();
    }
  });

  it('takes the decision again whose line was cut', () => {
    const trust = trustOf(OLD);
    const before = readFileSync(trust.file).length;
    trust.decide(LAST);
    const whole = readFileSync(trust.file);
    for (let length = before; length < whole.length - 1; length += 7) {
      writeFileSync(trust.file, whole.subarray(0, length));
      trust.decide(LAST);
      expect(decided(trust), `${length} bytes`).toEqual([...OLD, LAST]);
    }
  });

  it('approves nothing that only the two sides of a cut make together', () => {
    const trust = trustOf(OLD);
    trust.decide({ ...sourceOf('evil'), action: 'revoke' });
    appendFileSync(trust.file, JSON.stringify({ ...sourceOf('evil'), at: '2026-01-01T00:00:00Z' }).slice(0, -1));
    trust.decide({ ...sourceOf('other'), reason: '"}' });
    expect(decided(trust)).toEqual([
      ...OLD,
      { ...sourceOf('evil'), action: 'revoke' },
      { ...sourceOf('other'), reason: '"}' },
    ]);
  });
});

it('reads every decision that is whole, wherever the file ends', () => {
  const all = [...OLD, LAST];
  const whole = readFileSync(trustOf(all).file);
  const ends = all.map((_, at) => readFileSync(trustOf(all.slice(0, at + 1)).file).length - 1);
  const trust = trustOf([NEXT]);
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(trust.file, whole.subarray(0, length));
    expect(decided(trust), `${length} bytes`).toEqual(all.slice(0, ends.filter((end) => end <= length).length));
  }
});

it.each([
  ['zeros, as a machine leaves them that lost its power', Buffer.alloc(5_000)],
  ['bytes that are no text', Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x80])],
  [
    'lines of another program',
    Buffer.from(
      '[]\nnull\n"allow"\n{"kind":"root"}\n{"action":"allow","kind":{}}\n{"action":"allow","kind":"constructor"}\n{"action":"allow","kind":{"toString":1}}\n',
    ),
  ],
])('goes on behind %s', (_title, bytes) => {
  const trust = trustOf(OLD);
  appendFileSync(trust.file, bytes);
  expect(decided(trust)).toEqual(OLD);
  trust.decide(NEXT);
  expect(decided(trust)).toEqual([...OLD, NEXT]);
});

it('takes no line that would make the file too large to be used', () => {
  const trust = trustOf(OLD);
  const reason = 'x'.repeat(6 * 1024 * 1024);
  trust.decide({ ...sourceOf('large'), reason });
  trust.decide({ ...sourceOf('larger'), reason });
  const before = readFileSync(trust.file).length;
  expect(() => trust.decide({ ...sourceOf('largest'), reason })).toThrow(
    expect.objectContaining({ code: 'TRUST_UNUSABLE', message: expect.stringContaining('more than 16777216') }),
  );
  expect(readFileSync(trust.file)).toHaveLength(before);
  expect(decided(trust).slice(0, 3)).toEqual(OLD);
});
