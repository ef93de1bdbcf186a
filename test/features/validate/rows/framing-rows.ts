import { expect } from 'vitest';
import { validateSkill } from '../../../../extensions/skill_registry/index.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import {
  fenced,
  INVALID_YAML,
  MISSING_FILE,
  MUST_START,
  NOT_A_MAPPING,
  NOT_CLOSED,
  type Row,
  reads,
  validates,
} from './row.ts';

const FIELDS = 'name: a\ndescription: d\n';
const PLAIN = `---\n${FIELDS}---\nbody\n`;
const BY_LINES = 'a fence is a line of its own, so that --- in a value stays in the value';

function byLines(reference: string): { readonly deliberate: Row['deliberate'] & object } {
  return { deliberate: { reference, reason: BY_LINES } };
}

export const FRAMING_ROWS: readonly Row[] = [
  validates('X01', 'takes a file that ends right after the closing fence', `---\n${FIELDS}---`, []),
  reads('X02', 'takes CRLF line ends', PLAIN.replaceAll('\n', '\r\n'), { description: 'd' }),
  reads('X02', 'takes lone CR line ends', PLAIN.replaceAll('\n', '\r'), { description: 'd' }),
  validates('X03', 'takes a byte order mark', `\ufeff${PLAIN}`, [], {
    deliberate: { reference: MUST_START, reason: 'editors add it unseen, and every client reads over it' },
  }),
  validates('X04', 'refuses a blank line before the opening fence', `\n${PLAIN}`, [MUST_START]),
  validates('X04', 'refuses a space before the opening fence', ` ${PLAIN}`, [MUST_START]),
  validates('X05', 'takes one blank after the opening fence', PLAIN.replace('---', '--- '), []),
  validates('X05', 'takes two blanks after the opening fence', PLAIN.replace('---', '---  '), []),
  validates(
    'X05',
    'refuses a comment after the opening fence',
    PLAIN.replace('---', '--- # c'),
    [MUST_START],
    byLines('valid'),
  ),
  validates('X06', 'refuses a field on the opening fence', `---${PLAIN.slice(4)}`, [MUST_START], byLines('valid')),
  validates('X07', 'refuses an opening of four hyphens', `-${PLAIN}`, [MUST_START], byLines('Invalid YAML')),
  validates(
    'X08',
    'refuses a closing fence glued to a value',
    '---\nname: a\ndescription: d---\nbody\n',
    [NOT_CLOSED],
    byLines('valid, description is d'),
  ),
  validates(
    'X09',
    'refuses a closing of four hyphens',
    `---\n${FIELDS}----\nbody\n`,
    [NOT_CLOSED],
    byLines('valid, the body starts with -'),
  ),
  validates('X10', 'refuses an indented closing fence', `---\n${FIELDS}  ---\nbody\n`, [NOT_CLOSED], byLines('valid')),
  reads(
    'X11',
    'keeps three hyphens inside a value',
    fenced('name: a', 'description: x --- y'),
    { description: 'x --- y' },
    byLines('valid, description is x'),
  ),
  reads(
    'X12',
    'keeps three hyphens inside a quoted value',
    fenced('name: a', 'description: "x --- y"'),
    { description: 'x --- y' },
    byLines('Invalid YAML'),
  ),
  validates(
    'X13',
    'sees the three hyphens of a name',
    fenced('name: my---skill', 'description: d'),
    ['Skill name cannot contain consecutive hyphens'],
    { directory: 'my---skill', ...byLines('name my, which is not the directory’s, and no description') },
  ),
  validates('X14', 'refuses ... as the closing fence', `---\n${FIELDS}...\nbody\n`, [NOT_CLOSED]),
  validates(
    'X15',
    'ends the fields at ... and refuses a later fence',
    `---\n${FIELDS}...\ntext\n---\nbody\n`,
    [NOT_CLOSED],
    {
      deliberate: {
        reference: 'Invalid YAML (two documents)',
        reason: '... has ended the fields; what is missing is the closing ---',
      },
    },
  ),
  validates('X16', 'refuses an empty file', '', [MUST_START]),
  validates('X17', 'refuses a file of one fence', '---', [NOT_CLOSED]),
  validates('X18', 'refuses nothing between the fences', '---\n---\n', [NOT_A_MAPPING]),
  validates('X18', 'refuses a comment alone between the fences', fenced('# nothing'), [NOT_A_MAPPING]),
  validates('X19', 'refuses a scalar in place of fields', fenced('hello'), [NOT_A_MAPPING]),
  validates(
    'X20',
    'refuses bytes that are not UTF-8',
    Buffer.concat([Buffer.from(PLAIN), Buffer.from([0xff])]),
    ['SKILL.md is not UTF-8 text; save it as UTF-8'],
    { deliberate: { reference: 'a traceback', reason: 'one bad file is reported as any other' } },
  ),
  ...['\0', '\x1b', '\x7f', '\u009f', '\ufffe'].map((char) =>
    validates(
      'X21',
      `refuses the control character U+${char.charCodeAt(0).toString(16).padStart(4, '0')} in a value`,
      fenced('name: a', `description: d${char}`),
      [INVALID_YAML],
      { deliberate: { reference: 'a traceback', reason: 'one bad file is reported as any other' } },
    ),
  ),
  {
    id: 'X22',
    says: 'does not take a directory for the file',
    deliberate: { reference: 'a traceback', reason: 'a directory is not the required file' },
    check: () => expect(validateSkill(tempFolder({ 'SKILL.md/x.txt': '' }))).toEqual([MISSING_FILE]),
  },
  validates('X23', 'does not take Skill.md for the file', PLAIN, [MISSING_FILE], { fileName: 'Skill.md' }),
];
