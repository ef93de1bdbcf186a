/** What a diff says about the file it is for. */
export interface NamedFiles {
  /** Names that are not the file's own. */
  readonly others: readonly string[];
  /** One of the names is the file's own. */
  readonly namesIt: boolean;
}

const NO_FILE = '/dev/null';
/** What some write where a name belongs. */
const PLACEHOLDER =
  /^(?:[ab]\/)?(?:a|b|original|modified|old|new|before|after|current|proposed|updated|previous|file)(?:[ _-]?file)?$/i;
const PREFIX = /^(?:[abciow]|old|new)\//;

/**
 * Sorts the names of a diff, as its headers have them, into the file's own and others.
 *
 * @param skillId - Of the skill; a path that ends with its folder and `path` is the file's own, too.
 */
export function sortNames(names: readonly string[], path: string, skillId?: string): NamedFiles {
  const isOwn = (name: string): boolean => {
    if (name === path) return true;
    return skillId !== undefined && `/${name}`.endsWith(`/${skillId}/${path}`);
  };
  const others = new Set<string>();
  let namesIt = false;
  for (const name of new Set(names)) {
    const readings = readName(name);
    if (readings.some(isOwn)) namesIt = true;
    else if (!readings.includes(NO_FILE) && !readings.some((one) => PLACEHOLDER.test(one))) {
      others.add((readings.at(-1) ?? name).replace(PREFIX, ''));
    }
  }
  return { others: [...others], namesIt };
}

export function isNoFile(name: string): boolean {
  return readName(name).includes(NO_FILE);
}

/** The name as a header of ours has it: in quotes when it would not be one line. */
export function writeName(name: string): string {
  return /[\p{Cc}"\\]|^\s|\s$| {2}/u.test(name) ? JSON.stringify(name) : name;
}

// --- internal ---

/** No name of ours is longer, and patterns need not be tried on what is none. */
const MAX_NAME = 1024;

/** Every way to read a name, the plainest last: with prefix `a/`, time stamp or remark in parentheses, and without. */
function readName(written: string): readonly string[] {
  const name = written.slice(0, MAX_NAME);
  const readings = [name, (name.split('\t', 1)[0] as string).trim()];
  readings.push(unquote(readings.at(-1) as string));
  readings.push((readings.at(-1) as string).replace(/ \d{4}-\d\d-\d\d[\d:. +-]*$/, '').trimEnd());
  readings.push((readings.at(-1) as string).replace(/ \([^()]*\)$/, '').trimEnd());
  return readings.flatMap((one) => {
    const here = one.replace(/^\.\//, '');
    return [one, here.replace(PREFIX, '').replace(/^\.\//, ''), here];
  });
}

function unquote(name: string): string {
  const [, tick] = /^`([^`]+)`$/.exec(name) ?? [];
  if (tick !== undefined) return tick;
  if (!/^".*"$/.test(name)) return name;
  try {
    return String(JSON.parse(name));
  } catch {
    return name.slice(1, -1);
  }
}
