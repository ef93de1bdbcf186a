import { splitFrontmatter } from '../../skill/frontmatter.ts';
import type { ClassifiedFile, Match, Rule } from '../rule.ts';

export const PERMISSIONS: readonly Rule[] = [
  {
    id: 'permission-wider-than-use',
    level: 'warn',
    family: 'permissions',
    message: 'Asks permission for every command, and uses none',
    why: 'With the permission, whatever the model is led to run is run without a question.',
    mend: 'Name the commands that the skill uses: Bash(git log *).',
    find: widePermission,
  },
];

// --- internal ---

const WIDE =
  /(?:^|[\s,[\-'"])(?:bash(?:\(\s?\*?(?::\*)?\s?\))?|shell(?:\(\*\))?|\*|all|execute|terminal)(?=$|[\s,\]'"])/i;
const USES_COMMANDS =
  /^\s{0,12}(?:```|~~~)|`[\w./-]{2,30} [^`]{1,200}`|\b(?:run|execute|command|cli|script|terminal|shell|bash|git|npm|python|curl|install)\b/im;

function* widePermission({ path, text }: ClassifiedFile, skill: readonly ClassifiedFile[]): Generator<Match> {
  if (!/^skill\.md$/i.test(path)) return;
  const { yaml, bodyOffset, yamlLine } = splitFrontmatter(text);
  if (yaml === undefined) return;
  const lines = yaml.slice(0, 64 * 1024).split('\n');
  const at = lines.findIndex((line) => /^["']?allowed[-_]tools["']?\s*:/i.test(line));
  if (at === -1) return;
  const end = lines.findIndex((line, other) => other > at && /^[^\s-]/.test(line));
  const value = lines
    .slice(at, end === -1 ? undefined : end)
    .join('\n')
    .replace(/^[^:]*:/, '');
  if (!WIDE.test(value.slice(0, 4000))) return;
  if (skill.some((file) => !file.prose && file.kind === 'text' && file.path !== path)) return;
  if (USES_COMMANDS.test(text.slice(bodyOffset, bodyOffset + 200_000))) return;
  yield { line: yamlLine + at, words: `allowed-tools: ${value.trim().replace(/\s+/g, ' ')}` };
}
