/**
 * Mean tokens per skill in the catalog, by format: `node tokens.mjs <folder> <root>`. `overhead` is the tokens of a line beside id
 * and description. Prints JSON.
 */
import { tsImport } from 'tsx/esm/api';
import { createSkillRegistry } from '../dist/extensions/skill_registry/index.js';

const { countTokens } = await tsImport('../lib/text/index.ts', import.meta.url);
const [, , folder, root] = process.argv;
const results = {};
for (const format of ['bullets', 'xml']) {
  const config = { sources: [{ path: folder }], catalog: { format, budget_tokens: 10_000_000 } };
  const registry = await createSkillRegistry({ root, config });
  await registry.admin.inspectSkills();
  const shown = registry.snapshot().skills.filter((skill) => skill.modelInvocable && !skill.hiddenBecause);
  const whole = await countTokens((await registry.context('')) ?? '');
  let bare = 0;
  for (const { id, description } of shown) bare += (await countTokens(id)) + (await countTokens(description));
  results[format] = { perSkill: whole / shown.length, overhead: (whole - bare) / shown.length };
  await registry.close();
}
console.log(JSON.stringify(results));
process.exit(0);
