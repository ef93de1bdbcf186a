import { describe, expect, it } from 'vitest';
import { replaceText } from '../../../../extensions/skill_registry/features/proposals/propose/replace-text.ts';
import { fc } from '../../../helpers/properties.ts';
import { runRegistryTool } from '../../../helpers/run-registry-tool.ts';
import { ADA, TEA, type TeaRegistry, teaRegistry } from '../../../helpers/tea.ts';
import { nastyText } from '../../../lib/diff/nasty-text.ts';

const propose = ({ registry }: TeaRegistry, args: object) =>
  runRegistryTool(registry, 'propose_skill_update', { skill_id: 'tea', justification: 'Needed.', ...args });

async function approved(opened: TeaRegistry, args: object): Promise<string> {
  const result = (await propose(opened, args)) as { proposal_id?: string };
  expect(result).toMatchObject({ success: true });
  await opened.registry.proposals.approve(result.proposal_id ?? '', ADA);
  return opened.tea();
}

describe('propose_skill_update with old_string and new_string', () => {
  it('changes the one part of the file that is meant, and shows the reviewer a diff', async () => {
    const opened = await teaRegistry();
    const args = { old_string: 'two minutes', new_string: 'three minutes' };
    await propose(opened, args);
    const [{ diff, id } = { diff: '', id: '' }] = await opened.registry.proposals.list();
    expect(diff).toContain('-Steep for two minutes.\n+Steep for three minutes.\n');
    await opened.registry.proposals.reject(id, { ...ADA, reason: 'Once more.' });
    const other = { ...args, new_string: 'four minutes' };
    expect(await approved(opened, other)).toBe(TEA.replace('two', 'four'));
  });

  it('removes a part, and changes a file beside SKILL.md', async () => {
    const opened = await teaRegistry({ 'skills/tea/references/a.md': 'one\ntwo\n' });
    expect(await approved(opened, { old_string: 'Warm the pot.\n', new_string: '' })).not.toContain('Warm');
    await approved(opened, { path: 'references/a.md', old_string: 'two', new_string: '2' });
    expect((await opened.registry.readResource('tea', 'references/a.md')).content).toBe('one\n2\n');
  });

  it('keeps CRLF, though models write LF', async () => {
    const opened = await teaRegistry({ 'skills/tea/SKILL.md': TEA.replaceAll('\n', '\r\n') });
    const args = { old_string: 'Boil water.\nSteep for two minutes.', new_string: 'Boil.\nSteep.\nWait.' };
    const wanted = TEA.replace(args.old_string, args.new_string);
    expect(await approved(opened, args)).toBe(wanted.replaceAll('\n', '\r\n'));
  });

  it.each<[string, object, RegExp]>([
    [
      'is not there',
      { old_string: 'Steep for two minuts.', new_string: 'x' },
      /not found in SKILL.md. Nearest to "Steep for two minuts." is line 10: "Steep for two minutes."/,
    ],
    [
      'is not there in this order',
      { old_string: 'Serve.\nBoil water.', new_string: 'x' },
      /occur, but not directly after each other/,
    ],
    ['looks like nothing there', { old_string: '1234567890', new_string: 'x' }, /No line is similar to "1234567890"/],
    ['is there more than once', { old_string: 'the pot.', new_string: 'x' }, /occurs 2 times in SKILL.md. Add lines/],
    ['is what is to take its place', { old_string: 'Serve.', new_string: 'Serve.' }, /are the same/],
    [
      'is of a file that does not exist',
      { path: 'new.md', old_string: 'a', new_string: 'b' },
      /no file "new.md".*content/,
    ],
    ['is empty', { old_string: '', new_string: 'x' }, /\(old_string\) is empty/],
    ['has nothing to take its place', { old_string: 'Serve.' }, /go together/],
    ['is not given', { new_string: 'x' }, /go together/],
    ['comes with a content', { old_string: 'Serve.', new_string: 'x', content: TEA }, /exactly one of/],
    ['comes with a diff', { old_string: 'Serve.', new_string: 'x', diff: '@@\n-a\n+b\n' }, /exactly one of/],
  ])('is refused when the old text %s', async (_why, args, message) => {
    const opened = await teaRegistry();
    expect(await propose(opened, args)).toMatchObject({
      success: false,
      error: { code: 'INVALID_ARGUMENT', message: expect.stringMatching(message) },
    });
    expect(await opened.registry.proposals.list('all')).toEqual([]);
  });
});

it('replaces nothing but what is meant, whatever ends the lines', () => {
  const text = fc.array(fc.tuple(nastyText, fc.constantFrom('\n', '\r\n')), { maxLength: 4 });
  const around = text.map((parts) => parts.flat().join('').replaceAll('§', ''));
  fc.assert(
    fc.property(around, around, fc.constantFrom('\n', '\r\n'), (before, after, end) => {
      const present = `${before}§a${end}b§${after}`;
      expect(replaceText(present, '§a\nb§', '§\n', 'x')).toBe(`${before}§${end}${after}`);
    }),
  );
});
