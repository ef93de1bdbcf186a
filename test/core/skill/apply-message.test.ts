import { expect, it } from 'vitest';
import { applyMessage } from '../../../extensions/skill_registry/core/skill/apply-message.ts';

const DIR = '$'.concat('{SKILL_DIR}');

function fill(
  body: string,
  args: string | Readonly<Record<string, string>> = '',
  names: readonly string[] = [],
): string {
  const message = applyMessage('tea', body, args, { names, dir: '/skills/tea' });
  return message.slice(message.indexOf('\n\nInstructions:\n') + '\n\nInstructions:\n'.length);
}

it('names the skill and its arguments before the instructions', () => {
  expect(applyMessage('tea', 'Boil.', '', { names: [], dir: null })).toBe('Apply Skill "tea".\n\nInstructions:\nBoil.');
  expect(applyMessage('tea', 'Boil.', 'now', { names: [], dir: null })).toBe(
    'Apply Skill "tea" with arguments: "now"\n\nInstructions:\nBoil.',
  );
});

it.each([
  ['$ARGUMENTS!', 'a "b c"', 'a "b c"!'],
  ['$ARGUMENTS!', '', '!'],
  ['$0 $1 $2', `a 'b c' d\\ e`, 'a b c d e'],
  ['$ARGUMENTS[1] $ARGUMENTS[9]', 'a b', 'b $ARGUMENTS[9]'],
  ['$1 stays, $10 too', 'a', '$1 stays, $10 too'],
  ['awk "{print $1}"', '', 'awk "{print $1}"'],
  ['\\$0 and $0', 'a', '$0 and a'],
  [`run ${DIR}/x.sh`, '', 'run /skills/tea/x.sh'],
  ['$HOME $ARGUMENTSX', 'a', '$HOME $ARGUMENTSX'],
  // One pass: what is filled in is not looked at again.
  ['$0 $1', `'$1' ${DIR}`, `$1 ${DIR}`],
  ['$0', '"unclosed quote', 'unclosed quote'],
  ['!`rm -rf /`', 'x', '!`rm -rf /`'],
])('fills %j, given %j, to %j', (body, args, filled) => {
  expect(fill(body, args)).toBe(filled);
});

it('fills arguments by the names the skill gives them, from words or from a map', () => {
  expect(fill('$issue on $branch', '42 main', ['issue', 'branch'])).toBe('42 on main');
  expect(fill('$issue on "$branch"', '42', ['issue', 'branch'])).toBe('42 on ""');
  expect(fill('$0 on $branch: $ARGUMENTS', { branch: 'main', issue: '42' }, ['issue', 'branch'])).toBe(
    '42 on main: 42 main',
  );
});
