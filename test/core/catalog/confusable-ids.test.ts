import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { briefProblems, openRegistry } from '../../helpers/open-registry.ts';

it.each([
  ['letter case', 'Code-review', 'code-review'],
  ['a Cyrillic letter', 'code-review', 'с\u043ede-review'],
  ['a Greek capital, beside a Latin small letter', 'hello', '\u0397ELLO'],
  ['a Cyrillic capital that looks like a small l', 'item', '\u0406TEM'],
  ['letters of full width', 'code', 'ｃｏｄｅ'],
  ['composed and decomposed letters', 'cafe\u0301', 'caf\u00e9'],
  ['digits for letters', 'c0de1', 'codel'],
  ['two letters for one', 'modem', 'modern'],
  ['two v for a w', 'vvrite-code', 'write-code'],
  ['a capital I for a small l', 'Iint-fix', 'lint-fix'],
  ['a capital I for a one', 'step-I', 'step-1'],
])('says that two ids look alike: %s', async (_, one, other) => {
  const { registry, root } = await openRegistry({ ...skill(one), ...skill(other) });
  const found = registry.problems().filter(({ code }) => code === 'SKILL_ID_CONFUSABLE');
  expect(briefProblems(found, root)).toHaveLength(1);
  expect(found[0]?.message).toMatch(/^The id "(.+)" looks like "(.+)" \(.+SKILL\.md\), .* Rename one/);
  // Both are there all the same.
  expect(
    registry
      .snapshot()
      .skills.map(({ id }) => id)
      .sort(),
  ).toEqual([one, other].sort());
});

it('takes other words for other words', async () => {
  const { registry } = await openRegistry({
    ...skill('cafe'),
    ...skill('café'),
    ...skill('code'),
    ...skill('codes'),
    ...skill('cli'),
    ...skill('di'),
    ...skill('навык'),
    ...skill('λόγος'),
    ...skill('技能'),
  });
  expect(registry.problems()).toEqual([]);
});
