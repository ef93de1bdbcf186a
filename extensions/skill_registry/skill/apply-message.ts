/** What the placeholders of a skill's instructions stand for. */
export interface Placeholders {
  /** The skill's own names for its arguments, in order. */
  readonly names: readonly string[];
  /** Where the skill lies; null leaves `${SKILL_DIR}` as it is. */
  readonly dir: string | null;
}

const PLACEHOLDER =
  /(\\?)\$(?:\{(?:CLAUDE_)?SKILL_DIR\}|ARGUMENTS(?:\[(\d{1,3})\])?(?!\w)|(\d{1,3})(?!\d)|([A-Za-z_][\w-]*))/g;

/**
 * The message that applies a skill. One pass: what is filled in is not looked at again, and nothing is ever run.
 *
 * `$ARGUMENTS` is all of the text; `$ARGUMENTS[N]` and `$N` are its words counted from 0, split as a shell does, and stay as
 * written where there is no such word; `$name` is an argument the skill names, empty when it was not given; `\\$1` is `$1`.
 *
 * @param args - Text, or values by name.
 * @param isThere - Whether the agent has the instructions already: then only what its placeholders stand for is said.
 */
export function applyMessage(
  skillId: string,
  body: string,
  args: string | Readonly<Record<string, string>>,
  { names, dir }: Placeholders,
  isThere = false,
): string {
  const words = typeof args === 'string' ? splitWords(args) : names.map((name) => givenValue(args, name) ?? '');
  const text = typeof args === 'string' ? args : textOf(args, names);
  const named = (name: string): string | undefined => {
    const index = names.indexOf(name);
    return index === -1 ? undefined : (words[index] ?? '');
  };
  const meant = new Map<string, string>();
  const filled = body.replace(PLACEHOLDER, (whole, backslash: string, index?: string, word?: string, name?: string) => {
    const number = index ?? word;
    const value = whole.endsWith('SKILL_DIR}')
      ? dir
      : number !== undefined
        ? words[Number(number)]
        : name !== undefined
          ? named(name)
          : text;
    if (value === undefined || value === null) return whole;
    if (!backslash) meant.set(whole, value);
    return backslash ? whole.slice(1) : value;
  });
  const given = text ? ` with arguments: "${text}"` : '.';
  const said = [...meant].map(([placeholder, value]) => `\n${placeholder} in them: ${JSON.stringify(value)}`);
  const instructions = isThere ? `They stand in the system text.${said.join('')}` : filled;
  return `Apply Skill "${skillId}"${given}\n\nInstructions:\n${instructions}`;
}

// --- internal ---

/** Words between white space; quotes of either kind keep them together, a backslash takes the next character as it is. */
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

/** In the order of the skill, then what it does not name. */
function textOf(args: Readonly<Record<string, string>>, names: readonly string[]): string {
  const others = Object.keys(args).filter((name) => !names.includes(name));
  return [...names, ...others].flatMap((name) => givenValue(args, name) || []).join(' ');
}
