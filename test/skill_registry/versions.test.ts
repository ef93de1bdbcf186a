import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { headerText } from '../../extensions/skill_registry/core/search/document.ts';
import { BULLETS } from '../../extensions/skill_registry/core/show/formats.ts';
import { TOKEN_COUNTS } from '../../extensions/skill_registry/core/show/token-counts.ts';
import { bodyOf } from '../../extensions/skill_registry/core/skill/frontmatter.ts';
import { parseSkill } from '../../extensions/skill_registry/core/skill/parse-skill.ts';
import { SKILL_FILES } from '../../extensions/skill_registry/core/sources/walk/skill-file-cache.ts';
import { RULE_SET } from '../../extensions/skill_registry/features/guard/inspect/rule-set.ts';
import { RULES } from '../../extensions/skill_registry/features/guard/inspect/rules/index.ts';
import { CONTROL_TEXTS, embeddedText, queryText } from '../../extensions/skill_registry/features/meaning/likeness.ts';
import { VECTORS } from '../../extensions/skill_registry/features/meaning/vector-schema.ts';
import { countTokens } from '../../lib/text/index.ts';
import { sectionsOf } from '../../lib/text-index/document-batch.ts';
import { queryTerms, termsOf } from '../../lib/text-index/terms.ts';
import { SEARCH_INDEX } from '../../lib/text-index/text-index.ts';
import { fakeSkill } from '../helpers/fake-skill.ts';

const FRONTMATTERS = [
  'name: tea\ndescription: How to brew tea. Use when somebody is thirsty.\ntags: [drink, hot]',
  'name: Tea Time\ndescription: >\n  Folded\n  text\nmetadata: { version: 1.0, tags: "a, b", openclaw: { requires: { bins: [kettle] } } }',
  'name: tea\ndescription: with: a colon\nallowed-tools: Bash(git add *) Read\nlicense: MIT',
  'description: 1\ndisable-model-invocation: true\nuser-invocable: "no"\nargument-hint: [leaf]\narguments: [leaf, water]',
  'name: tea\nname: other\ndescription: twice',
  'name: [tea\ndescription: broken',
  'name: tea\ndescription: For files.\npaths: "src/**/*.{ts,tsx}, *.md, **"\nmetadata: { paths: [lib/**] }',
  'title: no description\nwhen_to_use: always\nrequires: [water]\ntrigger_keywords: [kettle, "cup of tea"]',
];
const BODY =
  '# Tea\n\nBoil the water; it’s 80 °C for green tea, 100 °C for black.\n\n## Steps\n\n```sh\nkettle --on\n```\n\n### 日本茶\n\n玉露は六十度。 don’t_over-steep v2.0\n';
const TEXTS = [...FRONTMATTERS.map((lines) => `---\n${lines}\n---\n${BODY}`), BODY, '', '---\nname: open\n'];
const SKILLS = [
  fakeSkill('tea', { description: 'Brew tea, “gently”.', tags: ['drink'], triggerKeywords: ['cup of tea'] }),
  fakeSkill('日本茶', { name: 'Green', description: 'Emoji 🍵 and `code`.' }),
];

/** A rule as data, without the functions of those that search a whole file. */
const ofRule = (_key: string, value: unknown): unknown => (value instanceof RegExp ? String(value) : value);

/** What each part of the cache keeps of these inputs, told by its digest. */
const KEPT: readonly (readonly [string, number, () => unknown])[] = [
  [SKILL_FILES.name, SKILL_FILES.version, () => TEXTS.map((text) => parseSkill(text, 'SKILL.md', 'tea'))],
  [
    TOKEN_COUNTS.name,
    TOKEN_COUNTS.version,
    () => Promise.all([...SKILLS.map((skill) => `${BULLETS.entry(skill)}\n`), ...TEXTS.map(bodyOf)].map(countTokens)),
  ],
  [
    SEARCH_INDEX.name,
    SEARCH_INDEX.version,
    () => [
      ...SKILLS.map((skill) => termsOf(headerText(skill))),
      ...sectionsOf(bodyOf(TEXTS[0] ?? '')).map(termsOf),
      [...queryTerms(BODY, 99).pairs],
    ],
  ],
  [
    VECTORS.name,
    VECTORS.version,
    () => [
      ...SKILLS.map((skill) => embeddedText(skill, bodyOf(TEXTS[0] ?? ''))),
      queryText('  tea\n now'),
      CONTROL_TEXTS,
    ],
  ],
  ['inspection', RULE_SET, () => JSON.stringify(RULES, ofRule)],
];

it('keeps under one version what is made of the same input: with another result, raise the version', async () => {
  const made = await Promise.all(
    KEPT.map(async ([name, version, make]) => {
      const text = JSON.stringify(await make());
      return `${name} ${version}: ${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    }),
  );
  // Who changes a digest raises the version beside it: else what an older release has kept is served for ever.
  expect(made).toMatchInlineSnapshot(`
    [
      "skill_files 7: 830e9caab85f9988",
      "token_counts 4: 0d6bc46200379d4d",
      "search 5: a665d8237d482790",
      "vector 5: fc28eb3bd579566c",
      "inspection 15: 323bdf51b0ebd727",
    ]
  `);
});
