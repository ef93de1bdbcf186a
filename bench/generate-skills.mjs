/** Generated skills of common words, for measurements. The same number gives the same skills. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WORDS =
  'agent audit budget build cache calendar chart cloud customer data deploy docker email finance format graph image index invoice json kubernetes legal lint meeting migrate node notes parse python query rank react release report review scan schema search security skill sql summary support table tax test ticket token translate vector video yaml'.split(
    ' ',
  );

/**
 * Writes `<folder>/skill-00000/SKILL.md` and so on, about 2 KB each.
 *
 * @param {string} folder
 * @param {number} count
 */
export function generateSkills(folder, count) {
  const random = seeded(7);
  const words = (n) => Array.from({ length: n }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');
  for (let index = 0; index < count; index++) {
    const id = `skill-${String(index).padStart(5, '0')}`;
    mkdirSync(join(folder, id), { recursive: true });
    const fields = [
      `name: ${id}`,
      `description: ${words(18)}. Use when ${words(8)}.`,
      'license: MIT',
      `metadata:\n  author: somebody\n  version: "1.${index % 10}"`,
    ];
    const body = Array.from({ length: 12 }, () => `${words(22)}.`).join('\n\n');
    writeFileSync(join(folder, id, 'SKILL.md'), `---\n${fields.join('\n')}\n---\n\n# ${words(3)}\n\n${body}\n`);
  }
}

/** A linear congruential generator, so that every run has the same numbers. */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}
