import { describe, expect, it } from 'vitest';
import { catalogText } from '../../../extensions/skill_registry/core/show/catalog-text.ts';
import { namedTools } from '../../../extensions/skill_registry/core/show/formats.ts';
import { countTokens } from '../../../lib/text/index.ts';
import { foldLine } from '../../../lib/text/line.ts';
import { fakeSkill } from '../../helpers/fake-skill.ts';
import { seededRandom } from '../../helpers/seeded-random.ts';

const WORDS = [
  ...'review code checklist and best practices for the team Kubernetes deployment — « » / // ... !! ## 1234567'.split(
    ' ',
  ),
  ...[
    '日本語のテキスト',
    'می\u200cخواهم',
    '👩\u200d💻😀',
    '<|im_start|>',
    '"quoted"',
    "don't",
    'x'.repeat(90),
    '============',
  ],
];

/** Skills with descriptions of 1 to 60 words, a few of them hard on a tokenizer. */
function skillsOf(count: number, seed = 1) {
  const random = seededRandom(seed);
  return Array.from({ length: count }, (_, at) => {
    const words = Array.from(
      { length: 1 + Math.floor(random() * 60) },
      () => WORDS[Math.floor(random() * WORDS.length)],
    );
    return fakeSkill(`skill-${String(at).padStart(4, '0')}`, { description: foldLine(words.join(' ')) });
  });
}

const tools = namedTools(['list_skills', 'read_skill']);
const ranking = (ranked: ReturnType<typeof skillsOf>) => async () => ({ ranked, fitting: [], pending: 0 });
const text = async (
  skills: ReturnType<typeof skillsOf>,
  budgetTokens = 2000,
  first: ReturnType<typeof skillsOf> = [],
) => (await catalogText(skills, { budgetTokens, tools, relevance: ranking(first) })).text;
const SHORTENED = 'Descriptions are shortened or left out; list_skills(query) shows them.';
const lines = (block: string | null): readonly string[] =>
  (block ?? '').split('\n').filter((line) => line.startsWith('•'));

describe('the catalog text', () => {
  it('is exactly this for two skills', async () => {
    const skills = [
      fakeSkill('code-review', { description: 'Code review checklist and best practices' }),
      fakeSkill('task-decomposition', { description: 'Break complex tasks into subtasks' }),
    ];
    expect(await text(skills)).toBe(`[Available Skills]
• \`code-review\` — Code review checklist and best practices
• \`task-decomposition\` — Break complex tasks into subtasks

Use read_skill(skill_id) to load full instructions.`);
  });

  it('is null for no skills', async () => {
    expect(await text([])).toBeNull();
  });

  it('is the same text at a budget it just fits, and says so from one token less', async () => {
    const skills = skillsOf(20);
    const whole = (await text(skills, 1_000_000)) ?? '';
    const tokens = await countTokens(whole);
    const roomy = await text(skills, tokens + 20);
    expect(roomy).toBe(whole);
    expect(whole).not.toContain('skills shown');
    expect(await text(skills, tokens - 1)).toContain(`\n${SHORTENED}`);
  });
});

describe.each([60, 2000])('%i skills', (count) => {
  const skills = skillsOf(count);

  it.each([50, 100, 200, 500, 1000, 2000, 4000])('never cost more than %i tokens', async (budget) => {
    const block = (await text(skills, budget, skills.slice(-5))) ?? '';
    expect(await countTokens(block)).toBeLessThanOrEqual(budget);
    const shown = lines(block).length;
    const rest = block.slice(block.lastIndexOf('\n\n'));
    expect(block.startsWith('[Available Skills]\n')).toBe(true);
    const loss = shown === count ? SHORTENED : `${shown} of ${count} skills shown; list_skills(query) finds the rest.`;
    expect(rest).toBe(`\n\nUse read_skill(skill_id) to load full instructions.\n${loss}`);
  });

  it.each([100, 700, 2000])('give the same bytes for the same input at %i tokens', async (budget) => {
    const alike = skillsOf(count);
    const again = await text(alike, budget, alike.slice(10, 20));
    expect(await text(skills, budget, skills.slice(10, 20))).toBe(again);
  });

  it.each([150, 500, 2000])('are shown in the order of the catalog at %i tokens', async (budget) => {
    const ids = lines(await text(skills, budget, [...skills].reverse())).map((line) => line.slice(0, 14));
    expect(ids).toEqual([...ids].sort());
    expect(ids.length).toBeGreaterThan(0);
  });
});

describe('the ladder', () => {
  const even = Array.from({ length: 40 }, (_, at) =>
    fakeSkill(`skill-${String(at).padStart(2, '0')}`, {
      description: 'plain words of a description '.repeat(12).trim(),
    }),
  );
  const last = even.slice(-3);

  it('first cuts all descriptions evenly, at a word', async () => {
    const block = (await text(even, 1500, last)) ?? '';
    expect(lines(block)).toHaveLength(40);
    expect(new Set(lines(block).map((line) => line.length)).size).toBe(1);
    for (const line of lines(block)) expect(line).toMatch(/ (plain|words|of|a|description)…$/);
    expect(block).toContain(`\n${SHORTENED}`);
  });

  it('then leaves the least relevant with their name only', async () => {
    const block = (await text(even, 420, last)) ?? '';
    expect(lines(block)).toHaveLength(40);
    const described = lines(block).filter((line) => line.includes('—'));
    expect(described.length).toBeLessThan(40);
    for (const { id } of last) expect(described.join('\n')).toContain(`\`${id}\``);
    expect(block).toContain('\n• `skill-20`\n');
    expect(block).toContain(`\n${SHORTENED}`);
  });

  it('then leaves the least relevant out', async () => {
    const block = (await text(even, 200, last)) ?? '';
    const shown = lines(block);
    expect(shown.length).toBeGreaterThanOrEqual(3);
    expect(shown.length).toBeLessThan(40);
    for (const { id } of last) expect(shown.join('\n')).toContain(`\`${id}\` — plain words`);
    expect(block).toContain(`\n${shown.length} of 40 skills shown;`);
  });

  it('only asks what is relevant when not all can stay', async () => {
    const relevance = async () => {
      throw new Error('asked');
    };
    const { text: all } = await catalogText(even, { budgetTokens: 100_000, tools, relevance });
    expect(all).toContain('skill-39');
    await expect(catalogText(even, { budgetTokens: 200, tools, relevance })).rejects.toThrow('asked');
  });
});

it('pinned skills give up words before they give up their place', async () => {
  const skills = Array.from({ length: 300 }, (_, index) =>
    fakeSkill(`skill-${index}`, { description: 'A long description of what it does and when. '.repeat(8) }),
  );
  const pinned = skills.filter((_, index) => index % 25 === 0);
  for (const budgetTokens of [150, 250, 400, 1000]) {
    const options = { budgetTokens, tools, relevance: ranking(pinned), pinned: pinned.map(({ id }) => id) };
    const text = (await catalogText(skills, options)).text ?? '';
    expect(pinned.filter(({ id }) => !text.includes(`\`${id}\``))).toEqual([]);
    expect(await countTokens(text)).toBeLessThanOrEqual(budgetTokens);
  }
});
