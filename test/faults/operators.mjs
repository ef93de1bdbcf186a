import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseSync } from 'oxc-parser';

/**
 * A fault names the function that it is in, a piece of code of that function, and what happens to that piece. No file is named, and the
 * piece is compared as a syntax tree, so that code may be moved and formatted without a change here.
 *
 * `in`: a function (`isAllowed`), a function in it (`createAccess.isSame`), a method (`HeldSkills.check`), a constant of a module
 * (`WEIGHTS`), or what a module does when it is loaded (`module run-process`). One of the operators, with the code of an expression, a statement, a property or a declaration:
 * `never`, `always`: this condition is always false, or true. `drop`: it is not there: a statement, an operand of && or ||, an element,
 * an argument or a property. `swap`: a pair, and the second one stands there instead. `text`: a pair, and the second one stands
 * instead of the first one within a string or a template.
 */
const OPERATORS = ['never', 'always', 'drop', 'swap', 'text'];

/** Every function and module constant of these files, by name, with the tree of each file. */
export function readFunctions(root, files) {
  const functions = new Map();
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    const { program, errors } = parseSync(file, text, { preserveParens: false });
    if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
    const add = (name, node) => functions.set(name, [...(functions.get(name) ?? []), { file, text, node }]);
    add(`module ${basename(file, '.ts')}`, program);
    collect(program, [], add);
  }
  return functions;
}

/** @returns the file, and its text with the fault. @throws Error when the fault fits no place, or several. */
export function placeFault(fault, functions) {
  const operator = operatorOf(fault);
  const given = fault[operator];
  const [code, other] = Array.isArray(given) ? given : [given];
  const places = (functions.get(fault.in) ?? []).flatMap(({ file, text, node }) =>
    editsOf(operator, node, code, other).map((edit) => ({ file, text, edit })),
  );
  const different = new Map(places.map((place) => [`${place.file} ${place.edit.start}`, place]));
  if (different.size !== 1) {
    const known = functions.has(fault.in) ? `${different.size} times in "${fault.in}"` : `, there is no "${fault.in}"`;
    throw new Error(`the code occurs ${known}: ${code}`);
  }
  const [{ file, text, edit }] = different.values();
  const faulty = text.slice(0, edit.start) + edit.text + text.slice(edit.end);
  if (faulty === text) throw new Error('nothing is changed');
  return { file, text: faulty };
}

export function operatorOf(fault) {
  const given = OPERATORS.filter((operator) => fault[operator] !== undefined);
  if (given.length !== 1)
    throw new Error(`one of ${OPERATORS.join(', ')} is needed, got ${given.join(', ') || 'none'}`);
  return given[0];
}

/** The code without positions, comments, formatting and parentheses. */
export function canonical(node) {
  return JSON.stringify(node, (key, value) => {
    if (key === 'start' || key === 'end' || key === 'range' || key === 'raw' || key === 'parent') return undefined;
    if (typeof value === 'bigint') return `${value}n`;
    return value instanceof RegExp ? String(value) : value;
  });
}

/** Names a node by the functions, classes and constants around it. */
export function collect(node, names, onNamed, isTop = true) {
  if (!node || typeof node !== 'object') return;
  if (Array.isArray(node)) {
    for (const one of node) collect(one, names, onNamed, isTop);
    return;
  }
  const own = nameOf(node, isTop);
  const inner = own === undefined ? names : [...names, own];
  if (own !== undefined) onNamed(inner.join('.'), node);
  for (const [key, value] of Object.entries(node)) {
    if (value && typeof value === 'object' && key !== 'parent')
      collect(value, inner, onNamed, isTop && MODULE_PARTS.has(node.type));
  }
}

// --- internal ---

const MODULE_PARTS = new Set(['Program', 'ExportNamedDeclaration', 'ExportDefaultDeclaration', 'VariableDeclaration']);
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

function nameOf(node, isTop) {
  if (node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration') return node.id?.name;
  const isFunction = (value) => FUNCTIONS.has(value?.type);
  if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && (isTop || isFunction(node.init)))
    return node.id.name;
  if (node.type === 'MethodDefinition' || (node.type === 'PropertyDefinition' && isFunction(node.value)))
    return keyOf(node.key);
  if (node.type === 'Property' && isFunction(node.value)) return keyOf(node.key);
  return undefined;
}

function keyOf(key) {
  return key.type === 'PrivateIdentifier' ? `#${key.name}` : (key.name ?? key.value);
}

function editsOf(operator, within, code, other) {
  if (operator === 'text') return editsOfText(within, code, other);
  const wanted = canonicalOf(code);
  const found = [];
  visit(within, [], (node, parents) => {
    const inner = unwrapped(node);
    const isEqual = (one) => one.type === wanted.type && canonical(one) === wanted.text;
    if (!isEqual(node) && (inner === node || !isEqual(inner))) return;
    if (operator === 'drop') found.push(...droppedOf(node, parents));
    else if (operator !== 'swap' && !isCondition(node, parents.at(-1))) return;
    else found.push({ start: node.start, end: node.end, text: replacementOf(operator, other) });
  });
  // An expression and the statement that only consists of it are one place.
  return found.filter((edit, at) => !found.some((one, index) => index < at && one.start === edit.start));
}

function replacementOf(operator, other) {
  if (operator === 'swap') return other;
  return operator === 'never' ? 'false' : 'true';
}

function isCondition(node, parent) {
  if (parent?.type === 'UnaryExpression') return parent.operator === '!';
  return parent?.type === 'LogicalExpression' || parent?.test === node;
}

function unwrapped(node) {
  if (node.type === 'Property' && node.shorthand) return node.value;
  return node.type === 'ExpressionStatement' ? node.expression : node;
}

function editsOfText(within, code, other) {
  const found = [];
  visit(within, [], (node) => {
    const text = node.type === 'Literal' ? node.raw : node.type === 'TemplateElement' ? node.value.raw : undefined;
    if (typeof text !== 'string' || text.split(code).length !== 2) return;
    // The position of a part of a template is that of the character before it.
    const start = node.start + text.indexOf(code) + (node.type === 'TemplateElement' ? 1 : 0);
    found.push({ start, end: start + code.length, text: other });
  });
  return found;
}

/** What is cut away with it: the comma of a list, or the operator beside an operand. */
function droppedOf(node, parents) {
  const parent = parents.at(-1);
  if (parent?.type === 'LogicalExpression') {
    const rest = parent.left === node ? parent.right : parent.left;
    const [start, end] = node.start < rest.start ? [node.start, rest.start] : [rest.end, node.end];
    return [{ start, end, text: '' }];
  }
  if (node.type.endsWith('Statement') || node.type === 'VariableDeclaration')
    return [{ start: node.start, end: node.end, text: '{}' }];
  const list = Object.values(parent ?? {}).find((value) => Array.isArray(value) && value.includes(node));
  if (!list) return [];
  const at = list.indexOf(node);
  if (at + 1 < list.length) return [{ start: node.start, end: list[at + 1].start, text: '' }];
  return [{ start: at === 0 ? node.start : list[at - 1].end, end: node.end, text: '' }];
}

function visit(node, parents, use) {
  if (!node || typeof node !== 'object') return;
  if (Array.isArray(node)) {
    for (const one of node) visit(one, parents, use);
    return;
  }
  if (typeof node.type === 'string') use(node, parents);
  const inner = typeof node.type === 'string' ? [...parents, node] : parents;
  for (const [key, value] of Object.entries(node))
    if (value && typeof value === 'object' && key !== 'parent') visit(value, inner, use);
}

const wanted = new Map();

/** @returns the tree of a piece of code: an expression, else a property, else a statement. */
function canonicalOf(code) {
  const before = wanted.get(code);
  if (before !== undefined) return before;
  const made = parsePiece(code);
  wanted.set(code, made);
  return made;
}

const FRAMES = [
  [(code) => `async function* f() { (${code}\n); }`, (body) => body[0].expression],
  [(code) => `async function* f() { ({ ${code} }); }`, (body) => body[0].expression.properties[0]],
  [(code) => `async function* f() { for (;;) { ${code}\n } }`, (body) => body[0].body.body[0]],
];

function parsePiece(code) {
  for (const [frame, pieceOf] of FRAMES) {
    const { program, errors } = parseSync('piece.ts', frame(code), { preserveParens: false });
    if (errors.length > 0) continue;
    const piece = pieceOf(program.body[0].body.body);
    if (piece) return { type: piece.type, text: canonical(piece) };
  }
  throw new Error(`this is neither an expression, nor a property, nor a statement: ${code}`);
}
