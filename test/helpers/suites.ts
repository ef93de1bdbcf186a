import { skillMd, type Tree } from './temp-folder.ts';

/** A skill that is found for two of its queries, and its neighbour, which is found for the third. */
export const TEA_SUITE: Tree = {
  'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews a pot of green tea.' }),
  'skills/tea/evals/trigger-eval.json': JSON.stringify([
    { query: 'brew green tea', should_trigger: true },
    { query: 'grind coffee beans', should_trigger: false },
  ]),
  'skills/coffee/SKILL.md': skillMd({ name: 'coffee', description: 'Grinds coffee beans and brews coffee.' }),
};

/** `evals/evals.json` with these cases. */
export function evalsJson(evals: readonly unknown[]): string {
  return JSON.stringify({ skill_name: 'tea', evals });
}

/** `eval.yaml` with one scenario, whose assertions are `[type, value]`. */
export function evalYaml(name: string, assertions: readonly (readonly [string, string])[]): string {
  const lines = assertions.map(([type, value]) => `      - { type: ${type}, value: ${JSON.stringify(value)} }`);
  return `scenarios:\n  - name: ${JSON.stringify(name)}\n    prompt: Make tea.\n    assertions:\n${lines.join('\n')}\n`;
}
