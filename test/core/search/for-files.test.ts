import { describe, expect, it } from 'vitest';
import { skillsForFiles } from '../../../extensions/skill_registry/core/search/for-files.ts';
import { parseSkill } from '../../../extensions/skill_registry/core/skill/parse-skill.ts';
import type { Skill } from '../../../extensions/skill_registry/core/skill/skill.ts';
import { fakeSkill } from '../../helpers/fake-skill.ts';
import { fc } from '../../helpers/properties.ts';

const matches = (glob: string, file: string): boolean =>
  skillsForFiles([fakeSkill('one', { paths: [glob] })], [file], '/root/of/all').length === 1;

describe('a file that is named', () => {
  it.each(['src/a.ts', './src//a.ts', 'src/./a.ts', 'src\\a.ts', '/root/of/all/src/a.ts'])(
    'lies below the root: %s',
    (file) => {
      expect(matches('src/a.ts', file)).toBe(true);
    },
  );

  it.each([
    '../src/a.ts',
    'src/../../a.ts',
    'src/b/../a.ts',
    'src\\..\\a.ts',
    '/src/a.ts',
    '//src/a.ts',
    '/root/of/all/../src/a.ts',
    '/root/of/allsrc/a.ts',
    'C:\\src\\a.ts',
    'c:src/a.ts',
    'src/a\0.ts',
    '/root/of/all',
    '.',
    '',
  ])('counts for nothing elsewhere: %j', (file) => {
    for (const glob of ['src/**', '*.ts', '**/a.ts', '**/src/**', 'all/**'])
      expect(matches(glob, file), glob).toBe(false);
  });

  it('leads out of the root by no spelling', () => {
    const bits = ['..', '.', '/', '\\', 'C:', '\0', '/root/of/all/'];
    const file = fc.array(fc.constantFrom(...bits), { maxLength: 8 }).map((parts) => `${parts.join('')}/../out.ts`);
    fc.assert(
      fc.property(file, (name) => {
        expect(matches('*.ts', name)).toBe(false);
      }),
    );
  });
});

describe('a glob', () => {
  it.each([
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/b/c/a.ts', true],
    ['src/**/*.ts', 'lib/a.ts', false],
    ['src/*.ts', 'src/b/a.ts', false],
    ['*.ts', 'deep/down/a.ts', true],
    ['Cargo.toml', 'crates/one/Cargo.toml', true],
    ['*.{ts,tsx}', 'a.tsx', true],
    ['.github/**', '.github/workflows/ci.yml', true],
    ['**/*.yml', '.github/workflows/ci.yml', true],
    ['src/[a-c].ts', 'src/b.ts', true],
    ['src/+(a|b).ts', 'src/a.ts', false],
    ['*.TS', 'a.ts', false],
  ])('%s and %s: %s', (glob, file, is) => {
    expect(matches(glob, file)).toBe(is);
  });
});

describe('hostile globs and names', () => {
  const bits = ['*', 'a', 'b', '?', '/', '**/', '[ab]', '[!b]', '{a,b}', '{*a,*b}', '/**/', '+(a|b)', '[[:alpha:]]'];
  const glob = fc
    .array(fc.constantFrom(...bits), { minLength: 1, maxLength: 8 })
    .map((some) => `*q${some.join('').repeat(200).slice(0, 190)}*/x.ts`);
  const file = fc
    .array(fc.constantFrom('a', 'b', '/', 'aa', 'b/'), { minLength: 1, maxLength: 5 })
    .map((some) => `${some.join('').repeat(1000).slice(0, 990)}/x.ts`);

  it('take a limited number of steps: of a thousand skills only so many are looked at', () => {
    fc.assert(
      fc.property(
        fc.array(glob, { minLength: 1, maxLength: 20 }),
        fc.array(file, { minLength: 1, maxLength: 100 }),
        (paths, files) => {
          let looked = 0;
          function* many(): Generator<Skill> {
            while (looked < 1000) {
              looked += 1;
              yield fakeSkill(`s${looked}`, { paths });
            }
          }
          expect(skillsForFiles(many(), files, '/root')).toEqual([]);
          // One name of 990 characters and one glob of 200 are 200,000 steps; no skill takes more than a twentieth of all.
          expect(looked).toBeGreaterThanOrEqual(20);
          expect(looked).toBeLessThan(600);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('of one skill leave steps for others', () => {
    const hostile = fakeSkill('hostile', { paths: Array.from({ length: 20 }, () => `*q${'*a'.repeat(90)}*/x.ts`) });
    const files = [...Array.from({ length: 99 }, () => `${'a'.repeat(990)}/x.ts`), 'src/a.ts'];
    const [honest, other] = [fakeSkill('honest', { paths: ['src/**'] }), fakeSkill('other', { paths: ['lib/**'] })];
    expect(skillsForFiles([hostile, hostile, hostile, other, honest], files, '/root')).toEqual([honest]);
  });

  it('count only when they are not about every file, whatever is written', () => {
    const bits = '* ** / { } , [ ] ! ^ - ( ) | + ? @ . .. a ts .ts \\ $ # {1..3} {a..z..2} [[:alpha:]] ${'.split(' ');
    const written = fc.array(fc.constantFrom(...bits, ' ', '\0', '😀'), { maxLength: 40 }).map((some) => some.join(''));
    fc.assert(
      fc.property(written, (text) => {
        const { header } = parseSkill(`---\ndescription: Tea.\npaths: ${JSON.stringify([text])}\n---\n`, 'f', 'tea');
        const about = (file: string): boolean =>
          skillsForFiles([fakeSkill('one', { paths: header?.paths ?? [] })], [file], '/root').length === 1;
        expect(['q', 'w/e', 'zzz.kkk', 'Makefile', 'x/y/z.c', '9'].every(about)).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  it('show at most five skills, the first ones', () => {
    const skills = Array.from({ length: 9 }, (_, at) => fakeSkill(`s${at}`, { paths: at === 1 ? ['*.md'] : ['*.ts'] }));
    expect(skillsForFiles(skills, ['a.ts'], '/root').map(({ id }) => id)).toEqual(['s0', 's2', 's3', 's4', 's5']);
    expect(skillsForFiles(skills, [], '/root')).toEqual([]);
  });
});
