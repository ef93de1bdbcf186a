import { describe, expect, it } from 'vitest';
import { createPassageSearch } from '../../../../../extensions/skill_registry/features/guard/inspect/passage-search.ts';
import { passagesOf } from '../../../../../extensions/skill_registry/features/guard/inspect/passages.ts';
import { RULES } from '../../../../../extensions/skill_registry/features/guard/inspect/rules/index.ts';
import { startsOf } from '../../../../../extensions/skill_registry/features/guard/inspect/starts.ts';
import { matchesOf } from '../../../../../lib/text/index.ts';
import { samplesOf } from '../../../../features/guard/inspect/rule-samples/index.ts';
import { fc } from '../../../../helpers/properties.ts';

const PATTERNS = RULES.flatMap((rule) => rule.patterns ?? []);
const EXPRESSIONS = PATTERNS.flatMap(({ match }) => match);
const SAMPLES = RULES.map(({ id }) => samplesOf(id))
  .flatMap(({ hits, misses }) => [...hits, ...misses])
  .flatMap((sample) => (typeof sample === 'string' ? [sample] : Object.values(sample)));

/** Compares, in each passage, the positions with what a search from the first character to the last one finds. */
function expectTheSame(text: string, expressions: readonly RegExp[] = EXPRESSIONS): void {
  const searchPassage = expressions === EXPRESSIONS ? SEARCH : createPassageSearch(expressions);
  const [found, wanted]: [string[], string[]] = [[], []];
  for (const passage of passagesOf(text, false)) {
    if (!passage) continue;
    const { mayHave, spans } = searchPassage(passage.text);
    for (const expression of expressions) {
      const positions = spans(expression).map(({ start, end }) => `${start} ${end}`);
      const all = matchesOf(passage.text, new RegExp(expression, 'g')).map(
        ({ 0: { length }, index }) => `${index} ${index + length}`,
      );
      found.push(`${expression.source}: ${positions}`);
      wanted.push(`${expression.source}: ${all}`);
      if (all.length > 0 && !mayHave(expression)) found.push('a fast test that is wrong');
    }
  }
  expect(found).toEqual(wanted);
}

const SEARCH = createPassageSearch(EXPRESSIONS);

describe('the positions where an expression matches', () => {
  it('are those of a search everywhere, for every sample of every rule', () => {
    expectTheSame(SAMPLES.join('\n\n'));
  });

  it('are those of a search everywhere, for any mixture of parts of the samples', () => {
    const parts = SAMPLES.flatMap((sample) => sample.split(/(?<=\s)|\b/));
    const texts = fc.array(fc.oneof(fc.constantFrom(...parts), fc.constantFrom(' ', '\n', '_', '.', 'é', 'x')), {
      minLength: 20,
      maxLength: 120,
    });
    fc.assert(
      fc.property(texts, (some) => expectTheSame(some.join(''))),
      { numRuns: 10 },
    );
  });

  it.each([
    [/\b(?:run|send)s?\b/, 'runs send sends resend send_it run'],
    [/(?<![\w-])env\b/, 'env $env my-env env_a environ (env)'],
    [/(?:a|bc){1,2}d/, 'ad bcd aad xbcad'],
    [/(?:\bthe )?\.ssh/, 'the .ssh a.ssh'],
    [/["'`]x/, '"x \'x y`x'],
    [/a?b/, 'b ab cab'],
    [/\be-?mail\b/, 'email e-mail e mail'],
    [/ab|a/, 'abab a'],
    [/(?<=x)y|\d{2}z/, 'xy 12z'],
    [/\\x[0-9]|\$\{?ifs/, '\\x4 $ifs ${ifs'],
  ])('are those of a search everywhere: %s', (expression, text) => {
    expectTheSame(text, [expression]);
    expect(matchesOf(text, new RegExp(expression, 'g')).length).toBeGreaterThan(0);
  });

  it('are known from the beginning of nearly every expression of the rules', () => {
    const unknown = EXPRESSIONS.filter(({ source }) => !startsOf(source));
    expect(EXPRESSIONS.length).toBeGreaterThan(100);
    expect(unknown.length).toBeLessThan(12);
  });

  it('are only looked for everywhere where another expression of the pattern was found, or a part that it needs', () => {
    for (const { match, needs } of PATTERNS) {
      const first = needs ?? match[0];
      expect(startsOf(first?.source ?? ''), first?.source).toBeDefined();
    }
  });

  it('need what a pattern says that they need', () => {
    const texts = SAMPLES.flatMap((sample) => [...passagesOf(sample, false)].flatMap((passage) => passage?.text ?? []));
    for (const { match, needs } of PATTERNS) {
      if (!needs) continue;
      const matching = texts.filter((text) => match.every((expression) => expression.test(text)));
      expect(matching.length, needs.source).toBeGreaterThan(0);
      for (const text of matching) expect(text).toMatch(needs);
    }
  });

  it.each([
    ['\\b(?:run|sends?)\\b', ['run', 'send', 'sends']],
    ['(?:sudo )?rm', ['rm', 'sudo rm']],
    ['\\bcurl\\s', ['curl ']],
    ['a+b', ['a']],
    ['[<>]x', ['<x', '>x']],
  ])('begin with what is written: %s', (source, texts) => {
    expect(startsOf(source)?.map(({ text }) => text)).toEqual(texts);
  });

  it.each(['\\w+', '[^a]b', '.x', 'a?', '(?:a|)'])('are looked for everywhere: %s', (source) => {
    expect(startsOf(source)).toBeUndefined();
  });
});
