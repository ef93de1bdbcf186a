/** Long questions, made from packages of the npm registry that carry skills, by the rule in README.md. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

const PACKAGES = JSON.parse(readFileSync(new URL('long-packages.json', import.meta.url), 'utf8'));
const DOCUMENT = /^(?:readme|changelog|history)\b.*\.md$|issue_template.*\.md$/i;
/** Different words of three letters or more. */
const LEAST_WORDS = 30;
const MOST_CHARACTERS = 2000;
/** Of one package, so that none is most of the set. */
const MOST_QUESTIONS = 12;
/** With more skills, a text that names none of them may be about any. */
const MOST_SKILLS = 3;

/** Gets the packages that are not in `folder` yet. @returns {string[]} One folder for each. */
export function fetchPackages(folder) {
  return PACKAGES.map((spec) => {
    const target = join(folder, spec.replace(/^@/, '').replace(/[/@]/g, '-'));
    if (existsSync(target)) return target;
    mkdirSync(target, { recursive: true });
    const packed = execFileSync('npm', ['pack', spec, '--silent', '--ignore-scripts'], {
      cwd: target,
      encoding: 'utf8',
    });
    const archive = packed.trim().split('\n').at(-1);
    execFileSync('tar', ['xzf', archive, '--no-same-owner', '--wildcards', '--ignore-case', '*.md'], { cwd: target });
    return target;
  });
}

/**
 * @param {readonly string[]} folders - Of packages.
 * @param {readonly { id: string, name: string, file: string }[]} skills - Those that a model sees.
 * @returns {{ set: string, query: string, relevant: string[] }[]} `set`: `long`; `relevant`: files.
 */
export function longQuestions(folders, skills) {
  return folders.flatMap((folder) => {
    const mine = skills.filter(({ file }) => file.startsWith(`${folder}/`));
    if (mine.length === 0) return [];
    const questions = documentsIn(folder).flatMap((file) =>
      sectionsOf(readFileSync(file, 'utf8')).flatMap((text) => {
        const relevant = skillsOf(text, file, mine);
        const query = withoutNames(text, mine).slice(0, MOST_CHARACTERS);
        if (relevant.length === 0 || wordsOf(query).size < LEAST_WORDS) return [];
        const order = createHash('sha256')
          .update(`${relative(folder, file)} ${text}`)
          .digest('hex');
        return [{ order, question: { set: 'long', query, relevant: relevant.map((one) => one.file) } }];
      }),
    );
    questions.sort((one, other) => (one.order < other.order ? -1 : 1));
    return questions.slice(0, MOST_QUESTIONS).map(({ question }) => question);
  });
}

/** The skill in whose folder the document lies; else the one that the text names; else all, where they are few. */
function skillsOf(text, file, skills) {
  const around = skills.filter((one) => file.startsWith(`${dirname(one.file)}/`));
  if (around.length > 0) return around.slice(0, 1);
  const named = skills.filter((one) => patternOf(one.id).test(text));
  if (named.length > 0) return named.length === 1 ? named : [];
  return skills.length <= MOST_SKILLS ? skills : [];
}

function withoutNames(text, skills) {
  const names = [...new Set(skills.flatMap(({ id, name }) => [id, name]))].sort((a, b) => b.length - a.length);
  return names
    .reduce((left, name) => left.replace(new RegExp(patternOf(name), 'giu'), ' '), text)
    .replace(/\s+/g, ' ')
    .trim();
}

/** A name as it is, or with blanks or underscores between its words. */
function patternOf(name) {
  const words = name.split(/[-_\s]+/).map((word) => word.replace(/[^\p{L}\p{N}]/gu, '\\$&'));
  return new RegExp(`(?<![\\p{L}\\p{N}-])${words.join('[-_\\s]+')}(?![\\p{L}\\p{N}-])`, 'iu');
}

function documentsIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && DOCUMENT.test(basename(entry.name)))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

/** What stands between two headings, without code, addresses, tables' lines and tags. */
function sectionsOf(text) {
  return text
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
    .split(/^#{1,6}\s/m)
    .map((section) => section.replace(/<[^>]*>|https?:\/\/\S+|[|*`>]|^[-\s|:]+$/gm, ' '));
}

function wordsOf(text) {
  return new Set(text.toLowerCase().match(/\p{L}{3,}/gu) ?? []);
}
