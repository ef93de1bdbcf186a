/** Questions of two or three words, made from real skills by the rule in README.md. */
import { createHash } from 'node:crypto';

/** Words that do not say what a question is about. */
const LITTLE = new Set(
  'a an and are as at be by do for from how in is it of on or so that the this to up use using what when where why with you your'.split(
    ' ',
  ),
);

/**
 * @param {readonly { path: string, id: string, description: string, body: string }[]} skills
 * @param {number} count - Of each kind.
 * @returns {{ set: string, query: string, relevant: string[] }[]} `set`: `names` or `headings`; `relevant`: paths.
 */
export function shortQuestions(skills, count = 100) {
  const known = skills
    .map(({ path, id, description, body }) => ({
      path,
      name: wordsOf(id),
      about: new Set(wordsOf(`${id} ${description}`)),
      headings: headingsOf(body),
      order: createHash('sha256').update(path).digest('hex'),
    }))
    .sort((one, other) => (one.order < other.order ? -1 : 1));
  return [...fromNames(known).slice(0, count), ...fromHeadings(known).slice(0, count)];
}

function fromNames(known) {
  const questions = new Map();
  for (const { name } of known) {
    const words = name.slice(-2);
    if (name.length < 3 || !words.every(tells)) continue;
    const relevant = known.filter((one) => words.every((word) => one.name.includes(word))).map(({ path }) => path);
    questions.set(words.join(' '), { set: 'names', query: words.join(' '), relevant });
  }
  return [...questions.values()];
}

function fromHeadings(known) {
  const owners = new Map();
  for (const { headings } of known) {
    for (const heading of new Set(headings.map((words) => words.join(' ')))) {
      owners.set(heading, (owners.get(heading) ?? 0) + 1);
    }
  }
  return known.flatMap(({ path, name, about, headings }) => {
    const heading = headings.find(
      (words) =>
        (words.length === 2 || words.length === 3) &&
        words.every((word) => tells(word) && about.has(word)) &&
        !words.every((word) => name.includes(word)) &&
        owners.get(words.join(' ')) === 1,
    );
    return heading ? [{ set: 'headings', query: heading.join(' '), relevant: [path] }] : [];
  });
}

/** The words of each heading of the second and third level, code blocks left out. */
function headingsOf(body) {
  const lines = body.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').split('\n');
  return lines.flatMap((line) => {
    const heading = /^#{2,3}\s+(.+?)\s*#*$/.exec(line)?.[1];
    return heading === undefined ? [] : [wordsOf(heading)];
  });
}

function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function tells(word) {
  return word.length > 1 && !LITTLE.has(word) && !/^\d+$/.test(word);
}
