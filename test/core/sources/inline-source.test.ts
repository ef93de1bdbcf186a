import { expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';

const inline = (name: string, instructions: string) => ({ name, description: 'Makes tea.', instructions });

it('of inline skills with one id the first wins, and the others are read by qualified id', async () => {
  const list = [inline('Tea Time', 'One.'), inline('tea time!', 'Two.'), inline('TEA-TIME', 'Three.')];
  const { registry } = await openRegistry({}, { sources: [{ inline: list }] });
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['tea-time']);
  const ids = ['tea-time', 'inline:tea-time', 'inline:tea-time~2', 'inline:tea-time~3'];
  const read = await Promise.all(ids.map((id) => registry.read(id)));
  expect(read.map(({ content }) => content)).toEqual(['One.', 'One.', 'Two.', 'Three.']);
  expect(registry.problems()).toMatchObject([
    {
      code: 'SKILL_ID_TAKEN',
      severity: 'warning',
      details: { winner_id: 'inline:tea-time', loser_id: 'inline:tea-time~2' },
    },
    { code: 'SKILL_ID_TAKEN', details: { loser_id: 'inline:tea-time~3' } },
  ]);
  expect(registry.problems()[0]?.message).toMatch(
    /"tea-time" .*\("tea time!"\).*Rename one of them, .*"inline:tea-time~2"/,
  );
});

it('a name that no id can be made of is named', async () => {
  const { registry } = await openRegistry({}, { sources: [{ inline: inline('!?', 'One.') }] });
  expect(registry.problems()).toMatchObject([{ code: 'SKILL_ID_INVALID' }]);
  expect(registry.problems()[0]?.message).toContain('"!?"');
});
