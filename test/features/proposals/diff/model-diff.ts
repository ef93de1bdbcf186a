/** A diff as a model wrote it. */
export interface ModelDiff {
  readonly odd: string;
  readonly diff: string;
  /** `SKILL` where nothing else is given. */
  readonly current?: string;
  /** What stands in the current text, and what stands there afterwards. */
  readonly change: readonly [from: string, to: string];
  readonly notes?: readonly string[];
}

export const SKILL: string = `---
name: tea
description: Brew tea.
---

# Tea

Some words.

## Steps

1. Boil the water.
2. Warm the pot.
3. Add the leaves.

## Notes

- Use fresh water.
- Wait three minutes.

\`\`\`bash
brew --tea
  --hot
\`\`\`

The end.
`;

/** The rows of a hunk that changes `WARM`. */
export const BODY: string = ` 1. Boil the water.
-2. Warm the pot.
+2. Warm the pot well.
 3. Add the leaves.
`;
export const WARM: readonly [string, string] = ['2. Warm the pot.', '2. Warm the pot well.'];
export const HEADS: string = '--- a/SKILL.md\n+++ b/SKILL.md\n';
export const END: string = 'The end.\n';
