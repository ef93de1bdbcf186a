import { describe, expect, it } from 'vitest';
import { matchPrefixesOf } from '../../../../extensions/skill_registry/inspect/match-prefixes.ts';
import { createPassageSearch } from '../../../../extensions/skill_registry/inspect/passage-search.ts';
import { passagesOf } from '../../../../extensions/skill_registry/inspect/passages.ts';
import { RULES } from '../../../../extensions/skill_registry/inspect/rules/index.ts';
import { createBreaks } from '../../../../lib/breaks/index.ts';
import { matchesOf } from '../../../../lib/text/index.ts';
import { fc } from '../../../helpers/properties.ts';
import { samplesOf } from '../../../skill_registry/inspect/rule-samples/index.ts';

const EXPRESSIONS = RULES.flatMap((rule) => ('patterns' in rule ? rule.patterns.flatMap(({ all }) => all) : []));
const SAMPLES = RULES.map(({ id }) => samplesOf(id))
  .flatMap(({ hits, misses }) => [...hits, ...misses])
  .flatMap((sample) => (typeof sample === 'string' ? [sample] : Object.values(sample)));

/** Compares, in each passage, the positions with what a search from the first character to the last one finds. */
async function expectTheSame(text: string, expressions: readonly RegExp[] = EXPRESSIONS): Promise<void> {
  const searchPassage = await (expressions === EXPRESSIONS ? TABLES : createPassageSearch(expressions, createBreaks()));
  const [found, wanted]: [string[], string[]] = [[], []];
  for (const passage of passagesOf(text, false)) {
    if (!passage) continue;
    const { mayHave, spans } = searchPassage(passage);
    for (const expression of expressions) {
      const positions = spans(expression).map(({ start, end }) => `${start} ${end}`);
      const all = matchesOf(passage.text, expression).map(({ 0: { length }, index }) => `${index} ${index + length}`);
      found.push(`${expression.source}: ${positions}`);
      wanted.push(`${expression.source}: ${all}`);
      if (all.length > 0 && !mayHave(expression)) found.push('a fast test that is wrong');
    }
  }
  expect(found).toEqual(wanted);
}

const TABLES = createPassageSearch(EXPRESSIONS, createBreaks());

describe('the positions where an expression matches', () => {
  it('are those of a search everywhere, for every sample of every rule', async () => {
    await expectTheSame(SAMPLES.join('\n\n'));
  });

  it('are those of a search everywhere, for any mixture of parts of the samples', async () => {
    const parts = SAMPLES.flatMap((sample) => sample.split(/(?<=\s)|\b/));
    const texts = fc.array(fc.oneof(fc.constantFrom(...parts), fc.constantFrom(' ', '\n', '_', '.', 'é', 'x')), {
      minLength: 20,
      maxLength: 120,
    });
    await fc.assert(
      fc.asyncProperty(texts, (some) => expectTheSame(some.join(''))),
      { numRuns: 10 },
    );
  });

  it.each([
    [/\b(?:run|send)s?\b/g, 'runs send sends resend send_it run'],
    [/(?<![\w-])env\b/g, 'env $env my-env env_a environ (env)'],
    [/(?:a|bc){1,2}d/g, 'ad bcd aad xbcad'],
    [/(?:\bthe )?\.ssh/g, 'the .ssh a.ssh'],
    [/["'`]x/g, '"x \'x y`x'],
    [/a?b/g, 'b ab cab'],
    [/\be-?mail\b/g, 'email e-mail e mail'],
    [/ab|a/g, 'abab a'],
    [/(?<=x)y|\d{2}z/g, 'xy 12z'],
    [/\\x[0-9]|\$\{?ifs/g, '\\x4 $ifs ${ifs'],
  ])('are those of a search everywhere: %s', async (expression, text) => {
    await expectTheSame(text, [expression]);
    expect(matchesOf(text, expression).length).toBeGreaterThan(0);
  });

  it('are known from the beginning of nearly every expression of the rules', () => {
    const unknown = EXPRESSIONS.filter(({ source }) => !matchPrefixesOf(source));
    expect(EXPRESSIONS.length).toBeGreaterThan(100);
    expect(unknown.length).toBeLessThan(12);
  });

  it.each([
    ['\\b(?:run|sends?)\\b', ['run|', 'send']],
    ['(?:sudo )?rm', ['sudo ', 'rm']],
    ['\\bcurl\\s', ['|curl']],
    ['a+b', ['a']],
    ['[<>]x', ['<', '>']],
  ])('begin with what is written: %s', (source, texts) => {
    const shown = matchPrefixesOf(source)?.map(({ text }) => text);
    expect(shown).toEqual(texts.map((text) => text.replaceAll('|', '')));
  });

  it.each(['\\w+', '[^a]b', '.x', 'a?', '(?:a|)', '\\s?x', '(?:a|\\d)b'])('are looked for everywhere: %s', (source) => {
    expect(matchPrefixesOf(source)).toBeUndefined();
  });
});
