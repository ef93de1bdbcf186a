import { CodedError, describeError, isCodedError, z } from 'skill-registry/kernel';
import { expect, test } from 'vitest';

/** What another copy of the package would throw. */
function foreign(name: string, code?: string): Error {
  return Object.assign(new Error('theirs'), { name }, code === undefined ? {} : { code });
}

test.each<[what: string, error: unknown, coded: boolean]>([
  ['a coded error', new CodedError('GONE', 'It is gone.'), true],
  ['one of another copy', foreign('CodedError', 'GONE'), true],
  ['one without a code', foreign('CodedError'), false],
  ['an error of the system', foreign('Error', 'ENOENT'), false],
  ['an object that looks like one', { name: 'CodedError', code: 'GONE', message: '' }, false],
  ['text', 'GONE', false],
  ['nothing', undefined, false],
])('isCodedError of %s', (_, error, coded) => {
  expect(isCodedError(error)).toBe(coded);
  expect(isCodedError(error, 'GONE')).toBe(coded);
  expect(isCodedError(error, 'OTHER')).toBe(false);
});

test.each<[what: string, error: unknown, line: string]>([
  ['a coded error', new CodedError('GONE', 'It is gone.'), 'GONE: It is gone.'],
  ['an error', new Error('no luck'), 'no luck'],
  ['an error without words', new TypeError(), 'TypeError'],
  ['text', 'words', 'words'],
  ['nothing', undefined, 'undefined'],
  [
    'what zod found',
    z.object({ port: z.number(), hosts: z.array(z.string()) }).safeParse({ port: 'x', hosts: [1] }).error,
    'port: expected number, received string; hosts.0: expected string, received number',
  ],
  ['what zod found of a whole value', z.string().safeParse(1).error, 'expected string, received number'],
])('describeError of %s is one line', (_, error, line) => {
  expect(describeError(error)).toBe(line);
});

test('a coded error keeps its details and its cause', () => {
  const cause = new Error('disk full');
  const error = new CodedError('GONE', 'It is gone.', { id: 'x' }, cause);
  expect(error).toMatchObject({ name: 'CodedError', code: 'GONE', details: { id: 'x' } });
  expect(error.cause).toBe(cause);
});
