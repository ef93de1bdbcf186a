import { describe, expect, it } from 'vitest';
import { matchesExpression } from '../../../extensions/skill_registry/features/packs/pack-expression.ts';
import { fakeSkill } from '../../helpers/fake-skill.ts';

const inPack = (path: string) =>
  fakeSkill(path.split('/').at(-1) as string, { pack: { id: 'support', path }, qualifiedId: `support:${path}` });
const matches = (expression: string | undefined, path: string): boolean => matchesExpression(expression, inPack(path));

describe('an expression of a workflow state', () => {
  it.each([
    ['a path', 'skills/billing'],
    ['a path from here', './skills/billing'],
    ['a path from here, twice', '././skills/billing'],
    ['a path with a slash at its end', './skills/billing/'],
    ['a path with a slash too many', 'skills//billing'],
    ['a detour', 'skills/x/../billing'],
    ['white space around it', '  skills/billing\n'],
    ['its SKILL.md', './skills/billing/SKILL.md'],
    ['its SKILL.md in small letters', 'skills/billing/skill.md'],
    ['the folder above', './skills'],
    ['its id', 'billing'],
    ['the whole pack', '.'],
    ['the whole pack with a slash', './'],
    ['nothing said', undefined],
    ['an empty text', ''],
    ['a star for one segment', './skills/*'],
    ['a star in a segment', 'skills/bill*'],
    ['a star that stands for nothing', 'skills/billing*'],
    ['two stars', '**'],
    ['two stars before it', '**/billing'],
    ['two stars after it', 'skills/**'],
    ['two stars that stand for nothing', 'skills/**/billing'],
    ['two stars right after it', 'skills/billing/**'],
    ['a star before its SKILL.md', 'skills/*/SKILL.md'],
    ['one character', 'skills/billin?'],
    ['a class', 'skills/[a-c]illing'],
    ['a class of others', 'skills/[!x]illing'],
    ['choices', 'skills/{technical,billing}'],
    ['choices in choices', '{skills/{a,billing},b}'],
  ])('lets a skill through: %s', (_, expression) => {
    expect(matches(expression, 'skills/billing')).toBe(true);
  });

  it.each([
    ['none', 'none'],
    ['none in capitals', 'NONE'],
    ['none with white space', ' None '],
    ['a longer name that begins alike', 'skills/billings'],
    ['a shorter name that begins alike', 'skills/bill'],
    ['part of a folder name', 'skill'],
    ['a folder beside it', './technical'],
    ['a folder in it', 'skills/billing/references'],
    ['another root', '/skills/billing'],
    ['a folder above the pack', '..'],
    ['another id', 'Billing'],
    ['a star, which is no path', '*'],
    ['a star that would have to hold a slash', 'sk*ing'],
    ['one character too many', 'skills/billing?'],
    ['other choices', 'skills/{technical,general}'],
    ['an open class', 'skills/[billing'],
    ['an open choice', 'skills/{billing'],
    ['a regular expression', 'skills/.*'],
    ['its qualified id', 'support:skills/billing'],
  ])('keeps a skill back: %s', (_, expression) => {
    expect(matches(expression, 'skills/billing')).toBe(false);
  });

  it.each([
    ['skills/bill', 'skills/billing', false],
    ['skills/billing', 'skills/bill', false],
    ['skills/billing', 'skills/billing/invoices', true],
    ['skills/*', 'skills/billing/invoices', false],
    ['skills/**', 'skills/billing/invoices', true],
    ['skills/**/invoices', 'skills/a/b/invoices', true],
    ['skills/.*', 'skills/.hidden', true],
    ['skills/*', 'skills/.hidden', true],
    ['@acme/billing', '@acme/billing/skills/invoices', true],
    ['@acme/bill', '@acme/billing/skills/invoices', false],
    ['@acme/*/**', '@acme/billing/skills/invoices', true],
    ['skills/billing.md', 'skills/billing.md', true],
    ['../shared', '../shared/tea', true],
    ['./SKILL.md', '.', true],
    ['skills/\u{1F375}?', 'skills/\u{1F375}\u{1F375}', true],
    ['none', 'none', false],
  ])('%s for a skill at %s: %s', (expression, path, expected) => {
    expect(matches(expression, path)).toBe(expected);
  });

  it('of an inline skill is its id, the whole pack or a glob', () => {
    const inline = inPack('escalation');
    expect(['escalation', '.', '*', '**', 'esc*'].map((one) => matchesExpression(one, inline))).not.toContain(false);
    expect(['skills', './skills', 'none', 'Escalation'].map((one) => matchesExpression(one, inline))).not.toContain(
      true,
    );
  });

  it.each([
    ['many stars', `${'*a'.repeat(30)}b`, 'a'.repeat(255)],
    ['many double stars', `${'**/a/'.repeat(100)}b`, 'a/'.repeat(200)],
    ['repetition in repetition', '+(+(a|aa)+)b', 'a'.repeat(255)],
    ['many braces', `${'{a,b}'.repeat(40)}`, 'a'.repeat(40)],
    ['braces in braces', `${'{a,'.repeat(300)}${'}'.repeat(300)}`, 'a'],
    ['open braces', '{'.repeat(100_000), 'a'],
    ['open brackets', '['.repeat(1000), 'a'],
    ['a very long one', `${'*'.repeat(1_000_000)}b`, 'a'],
    ['many folders up', '../'.repeat(100_000), 'a'],
    // What hangs takes longer than a test may.
  ])('does not hang: %s', (_, expression, path) => {
    expect(matchesExpression(expression, inPack(path))).toBe(false);
  });
});
