import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry } from 'skill-registry';
import { expect, it } from 'vitest';
import { runCommand } from '../helpers/run-command.ts';
import { LONGER, TEA } from '../helpers/tea.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/command.md'), 'utf8').replace(
  /^.*?(?=\| command \| `--json` \|)/s,
  '',
);

const PROMPT = 'You brew.\n## Pots\nA pot holds a litre of tea.\n';

/** Keys on the first level of what the page says of a command, those that may be absent left out. */
function documentedKeys(command: string): readonly string[] {
  const row = PAGE.split('\n').find((line) => line.startsWith(`| \`${command}\``)) ?? '';
  const shape = /`(\{ .* \})`/.exec(row.split('|').slice(2).join('|'))?.[1] ?? '';
  let depth = 0;
  const top = [...shape.slice(1, -1)].map((char) => {
    if ('{['.includes(char)) depth += 1;
    if ('}]'.includes(char)) depth -= 1;
    return depth > 0 || '}]'.includes(char) ? '' : char;
  });
  return top
    .join('')
    .split(',')
    .map((part) => part.trim().replace(/[: ].*$/, ''))
    .filter((key) => key !== '' && !key.endsWith('?'));
}

it('prints what the page says, command by command', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA, 'skills/tea/references/a.md': 'A.\n', 'prompt.md': PROMPT });
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  const propose = async (content: string): Promise<string> =>
    (await registry.proposals.propose({ skillId: 'tea', content, justification: 'Weak.' })).proposalId;
  const [first, second] = [await propose(LONGER), await propose(TEA.replace('Serve.', 'Pour.'))];
  await registry.close();
  const runs: readonly (readonly [documented: string, args: readonly string[]])[] = [
    ['list', ['list']],
    ['search <query>', ['search', 'tea']],
    ['try <id> <question>', ['try', 'tea', 'how do I brew?']],
    ['show <id>', ['show', 'tea']],
    ['show <id> --resource <path>', ['show', 'tea', '--resource', 'references/a.md']],
    ['show <id> --revision <n>', ['show', 'tea', '--revision', '1']],
    ['eval [id]', ['eval', 'tea']],
    ['doctor', ['doctor']],
    ['doctor --overlap', ['doctor', '--overlap']],
    ['validate <path...>', ['validate', join(root, 'skills/tea')]],
    ['prompt <path...>', ['prompt', join(root, 'skills/tea')]],
    ['proposals list', ['proposals', 'list']],
    ['proposals show <id>', ['proposals', 'show', first]],
    ['proposals approve <id>', ['proposals', 'approve', first]],
    ['proposals approve <id>', ['proposals', 'reject', second, '--reason', 'No.']],
    ['proposals stats', ['proposals', 'stats']],
    ['import <path>', ['import', join(root, 'prompt.md')]],
    ['history <id>', ['history', 'tea']],
    ['diff <id> <a> <b>', ['diff', 'tea', '1', '2']],
  ];
  for (const [documented, args] of runs) {
    const { stdout } = await runCommand([...args, '--json', '--root', root, '--skills', join(root, 'skills')]);
    const keys = documentedKeys(documented);
    expect(keys, documented).not.toEqual([]);
    expect(Object.keys(JSON.parse(stdout)), documented).toEqual(expect.arrayContaining([...keys]));
    expect(keys.length, documented).toBeGreaterThanOrEqual(
      Object.keys(JSON.parse(stdout)).filter((key) => !['hint', 'directory'].includes(key)).length,
    );
  }
});
