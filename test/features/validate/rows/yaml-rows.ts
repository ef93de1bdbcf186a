import { fenced, INVALID_YAML, type Row, reads, validates } from './row.ts';

const ALLOWED = "['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name']";
const CLIENTS = { reference: 'Invalid YAML', reason: 'what people write most, and all clients take it' };

const TOOLS_AS_TEXT =
  "Field 'allowed-tools' must be a string, one tool after another: allowed-tools: Read Bash(git add *)";

function unexpected(keys: string): string {
  return `Unexpected fields in frontmatter: ${keys}. Only ${ALLOWED} are allowed.`;
}

/** `lines` below a name and a description. */
function more(...lines: readonly string[]): string {
  return fenced('name: a', 'description: d', ...lines);
}

/** `value` as it stands after `description:`. */
function described(value: string): string {
  return fenced('name: a', `description: ${value}`);
}

export const YAML_ROWS: readonly Row[] = [
  validates('Y01', 'refuses tools in brackets', more('allowed-tools: [Read, Write]'), [TOOLS_AS_TEXT], {
    deliberate: { reference: 'Invalid YAML', reason: 'it can be read, and the standard wants text' },
  }),
  reads(
    'Y01',
    'takes a list in brackets',
    more('license: [MIT, BSD]'),
    { license: ['MIT', 'BSD'] },
    { deliberate: CLIENTS },
  ),
  validates('Y02', 'refuses a block list of tools', more('allowed-tools:', '  - Read', '  - Write'), [TOOLS_AS_TEXT], {
    deliberate: { reference: 'valid', reason: 'the standard wants text, and clients split what they take for text' },
  }),
  reads('Y02', 'takes a block list', more('license:', '  - MIT', '  - BSD'), { license: ['MIT', 'BSD'] }),
  reads(
    'Y03',
    'takes a mapping in braces',
    more('metadata: {"k":"v"}'),
    { metadata: { k: 'v' } },
    { deliberate: CLIENTS },
  ),
  reads(
    'Y04',
    'writes a nested mapping as JSON',
    more('metadata:', '  outer:', '    e: x'),
    { metadata: { outer: '{"e":"x"}' } },
    { deliberate: { reference: "{'e': 'x'}", reason: 'every language reads JSON back' } },
  ),
  reads(
    'Y04',
    'writes nested lists and quotes as JSON',
    more('metadata:', '  k:', "    - it's", '    - 1.0'),
    { metadata: { k: `["it's","1.0"]` } },
    { deliberate: { reference: `["it's", '1.0']`, reason: 'every language reads JSON back' } },
  ),
  reads('Y05', 'passes a metadata list through', more('metadata:', '  - x', '  - y'), { metadata: ['x', 'y'] }),
  reads('Y05', 'passes a metadata scalar through', more('metadata: 1.0'), { metadata: '1.0' }),
  reads('Y06', 'leaves empty metadata out', more('metadata:'), {}),
  reads('Y07', 'keeps empty license and compatibility', more('license:', 'compatibility:'), {
    license: '',
    compatibility: '',
  }),
  validates('Y08', 'wants compatibility as text', more('compatibility:', '  - x'), [
    "Field 'compatibility' must be a string",
  ]),
  validates('Y09', 'refuses a key twice', fenced('name: a', 'name: a', 'description: d'), [
    "Invalid YAML in frontmatter: Duplicate key 'name' found (line 3)",
  ]),
  validates('Y09', 'refuses a nested key twice', more('metadata:', '  k: 1', '  k: 2'), [
    "Invalid YAML in frontmatter: Duplicate key 'k' found (line 6)",
  ]),
  validates('Y10', 'refuses an anchor', described('&x d'), [INVALID_YAML]),
  validates('Y10', 'refuses an alias', described('*x'), [INVALID_YAML]),
  validates('Y10', 'refuses an anchor and its alias', more('license: &x MIT', 'compatibility: *x'), [INVALID_YAML]),
  validates('Y10', 'refuses a tag', described('!!str d'), [INVALID_YAML]),
  validates('Y11', 'refuses a tab as indentation', more('metadata:', '\tk: v'), [INVALID_YAML]),
  validates('Y12', 'refuses a colon and a blank in a plain value', described('Use when: the'), [
    "Invalid YAML in frontmatter: mapping values are not allowed here; put the value in single quotes, and write each ' in it twice (line 3)",
  ]),
  ...['`', '@', '%'].map((char) =>
    validates('Y13', `refuses a value that starts with ${char}`, described(`${char}x`), [
      `Invalid YAML in frontmatter: found character '${char}' that cannot start any token; put the value in single quotes, and write each ' in it twice (line 3)`,
    ]),
  ),
  reads('Y14', 'takes what follows # for a comment', described('use #1 thing'), { description: 'use' }),
  reads('Y15', 'keeps an address whole', described('see https://x.y/z'), { description: 'see https://x.y/z' }),
  reads(
    'Y16',
    'takes a number for a name',
    fenced('name: 123', 'description: d'),
    { name: '123' },
    { directory: '123' },
  ),
  reads(
    'Y16',
    'takes true for a name',
    fenced('name: true', 'description: d'),
    { name: 'true' },
    { directory: 'true' },
  ),
  reads('Y17', 'takes null as it is written', described('null'), { description: 'null' }),
  reads('Y17', 'takes ~ as it is written', described('~'), { description: '~' }),
  reads('Y18', 'folds >-', described('>-\n  one\n  two\n\n  three'), { description: 'one two\nthree' }),
  reads('Y18', 'keeps the lines of |', described('|\n  one\n  two'), { description: 'one\ntwo' }),
  validates('Y19', 'counts the line feed that ends |', described(`|\n  ${'x'.repeat(1024)}`), [
    'Description exceeds 1024 character limit (1025 chars)',
  ]),
  validates('Y20', 'takes |- of 1,024 characters', described(`|-\n  ${'x'.repeat(1024)}`), []),
  validates('Y21', 'wants the name as text', fenced('name:', '  - a', 'description: d'), [
    "Field 'name' must be a non-empty string",
  ]),
  validates('Y22', 'tells Name from name', fenced('Name: a', 'description: d'), [
    unexpected('Name'),
    'Missing required field in frontmatter: name',
  ]),
  validates('Y23', 'names unknown fields together, sorted', more('zz: 1', 'bb: 2'), [unexpected('bb, zz')]),
  validates('Y23', 'sorts unknown fields by code point', more('𐀀: 1', '\uff5a: 2'), [unexpected('\uff5a, 𐀀')]),
  validates('Y24', 'refuses version', more('version: 1.0'), [unexpected('version')]),
  validates('Y24', 'refuses allowed_tools', more('allowed_tools: Read'), [unexpected('allowed_tools')]),
  validates('Y25', 'refuses a blank description', described('"   "'), [
    "Field 'description' must be a non-empty string",
  ]),
  reads('Y26', 'takes a padded name', fenced('name: " a "', 'description: d'), { name: 'a' }),
];
