import { expect, it } from 'vitest';
import { queryTerms, termsOf } from '../../../lib/text-index/terms.ts';

it.each([
  ['words are reduced to their stem', 'Reviewing reviews, reviewed', ['review', 'review', 'review']],
  ['stop words say nothing', 'how to do it with the team', ['team']],
  ['camelCase gives parts and the whole', 'createSkillRegistry', ['creat', 'skill', 'registri', 'createskillregistri']],
  ['an acronym is a part', 'parseXMLFile', ['pars', 'xml', 'file', 'parsexmlfil']],
  ['snake_case gives parts and the whole', 'read_skill_resource', ['read', 'skill', 'resourc', 'readskillresourc']],
  ['dotted names give parts and the whole', 'System.Text.Json', ['system', 'text', 'json', 'systemtextjson']],
  ['hyphens part words', 'code-review', ['code', 'review']],
  ['C++, C# and F# stay whole', 'C++ and C#, f#', ['c++', 'c#', 'f#']],
  ['accents are dropped', 'Café résumé', ['cafe', 'resum']],
  ['full-width letters are letters', 'ＰＤＦ', ['pdf']],
  ['a run of Chinese gives pairs', '代码审查', ['代码', '码审', '审查']],
  ['a single character stays', '茶', ['茶']],
  ['Japanese and Korean likewise', 'テスト 테스트', ['テス', 'スト', '테스', '스트']],
  ['encoded data is no word', `x ${'QUJD'.repeat(30)}`, ['x']],
  ['operators are text', 'NEAR(tea) AND -cup* "mug" NOT', ['near', 'tea', 'cup', 'mug']],
])('%s', (_, text, terms) => {
  expect(termsOf(text)).toEqual(terms);
});

it('a query has each term once, and wholes of identifiers are not missed', () => {
  const { terms, optional, words } = queryTerms('Reviews of reviewing readSkill', 10);
  expect(terms).toEqual(['review', 'read', 'skill']);
  expect(optional).toEqual(['readskil']);
  expect(words.get('review')).toBe('reviews');
});
