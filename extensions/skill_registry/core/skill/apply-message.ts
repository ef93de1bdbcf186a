export interface Placeholders {
  /** The names of the skill's arguments, in order. */
  readonly names: readonly string[];
  /** Folder of the skill; null: `${SKILL_DIR}` is not replaced. */
  readonly dir: string | null;
}

const PLACEHOLDER =
  /(\\?)\$(?:\{(?:CLAUDE_)?SKILL_DIR\}|ARGUMENTS(?:\[(\d{1,3})\])?(?!\w)|(\d{1,3})(?!\d)|([A-Za-z_][\w-]*))/g;

/**
 * Builds the message that applies a skill. Placeholders in a value are not replaced; nothing is run. `$ARGUMENTS` is
 * the whole text. `$ARGUMENTS[N]` and `$N` are its words from 0, split as a shell does; one without a word stays.
 * `$name` is a named argument, empty when not given. `\\$1` becomes `$1`. With `isInPrompt` the prompt has the
 * instructions, so the message has only the values.
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

/** At white space outside quotes. A backslash makes the next character an ordinary one. */
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
