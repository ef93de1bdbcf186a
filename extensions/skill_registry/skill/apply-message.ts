/** What replaces the placeholders in the instructions of a skill. */
export interface Placeholders {
  /** The names that the skill gives its arguments, in order. */
  readonly names: readonly string[];
  /** Folder of the skill; null: `${SKILL_DIR}` is not replaced. */
  readonly dir: string | null;
}

const PLACEHOLDER =
  /(\\?)\$(?:\{(?:CLAUDE_)?SKILL_DIR\}|ARGUMENTS(?:\[(\d{1,3})\])?(?!\w)|(\d{1,3})(?!\d)|([A-Za-z_][\w-]*))/g;

/**
 * Builds the message that applies a skill. Placeholders in a value are not replaced, and nothing is ever run.
 *
 * `$ARGUMENTS` is the whole text. `$ARGUMENTS[N]` and `$N` are its words, split as a shell does and counted from 0; a
 * placeholder without such a word stays as it is. `$name` is an argument that the skill names, empty when it was not given.
 * `\\$1` becomes `$1`.
 *
 * @param args - Text, or values by name.
 * @param isInPrompt - Whether the prompt contains the instructions already. Then the message has only the values of the placeholders.
 */
export function applyMessage(
  skillId: string,
  body: string,
  args: string | Readonly<Record<string, string>>,
  { names, dir }: Placeholders,
  isInPrompt = false,
): string {
  const words = typeof args === 'string' ? splitWords(args) : names.map((name) => givenValue(args, name) ?? '');
  const text = typeof args === 'string' ? args : argumentText(args, names);
  const argumentNamed = (name: string): string | undefined => {
    const index = names.indexOf(name);
    return index === -1 ? undefined : (words[index] ?? '');
  };
  const values = new Map<string, string>();
  const filled = body.replace(PLACEHOLDER, (whole, backslash: string, index?: string, word?: string, name?: string) => {
    const number = index ?? word;
    const value = whole.endsWith('SKILL_DIR}')
      ? dir
      : number !== undefined
        ? words[Number(number)]
        : name !== undefined
          ? argumentNamed(name)
          : text;
    if (value === undefined || value === null) return whole;
    if (!backslash) values.set(whole, value);
    return backslash ? whole.slice(1) : value;
  });
  const withArguments = text ? ` with arguments: "${text}"` : '.';
  const valueLines = [...values].map(([placeholder, value]) => `\n${placeholder} in them: ${JSON.stringify(value)}`);
  const instructions = isInPrompt ? `They stand in the system text.${valueLines.join('')}` : filled;
  return `Apply Skill "${skillId}"${withArguments}\n\nInstructions:\n${instructions}`;
}

// --- internal ---

/** Splits at white space, but not inside single or double quotes. A backslash makes the next character an ordinary one. */
function splitWords(text: string): readonly string[] {
  const words = text.match(/(?:[^\s"'\\]|\\[\s\S]?|"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?)+/g) ?? [];
  return words.map((word) =>
    word.replace(/"((?:[^"\\]|\\[\s\S])*)"?|'([^']*)'?|\\([\s\S])/g, (_all, double, single, escaped) =>
      double === undefined ? (single ?? escaped) : String(double).replace(/\\(["\\$`])/g, '$1'),
    ),
  );
}

function givenValue(args: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

function argumentText(args: Readonly<Record<string, string>>, names: readonly string[]): string {
  const others = Object.keys(args).filter((name) => !names.includes(name));
  return [...names, ...others].flatMap((name) => givenValue(args, name) || []).join(' ');
}
