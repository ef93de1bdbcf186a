// Prints each public name of the built declarations with its members. `npm run types:public`
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { API, SymbolFlags } from 'typescript/unstable/sync';

const { name, exports } = JSON.parse(readFileSync('package.json', 'utf8'));
const doors = Object.entries(exports).flatMap(([path, { types }]) =>
  types === undefined ? [] : [{ door: name + path.slice(1), file: resolve(types) }],
);
const folder = mkdtempSync(join(tmpdir(), 'skill-registry-types-'));
const config = join(folder, 'tsconfig.json');
const compilerOptions = { strict: true, target: 'es2023', module: 'nodenext', skipLibCheck: true, types: [] };
writeFileSync(config, JSON.stringify({ compilerOptions, files: doors.map(({ file }) => file) }));
const api = new API({ cwd: process.cwd() });
try {
  const project = api.updateSnapshot({ openProject: config }).getProject(config);
  const pages = doors.map(({ door, file }) => ({ door, names: namesOf(file, project) }));
  for (const { door, names } of pages) print(`${door}\n${names.map(lineOf).join('\n')}\n`);
  const all = pages.flatMap(({ names }) => names);
  print(`${all.length} names with ${all.flatMap(({ members }) => members).length} members`);
} finally {
  api.close();
  rmSync(folder, { recursive: true, force: true });
}

function namesOf(file, { checker, program }) {
  const found = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file))).map((symbol) => {
    const origin = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const isInterface = (origin.flags & SymbolFlags.Interface) !== 0;
    const properties = isInterface ? checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(origin)) : [];
    const isValue = (origin.flags & SymbolFlags.Value) !== 0;
    return { name: symbol.name, isValue, members: properties.map((one) => one.name) };
  });
  return found.sort((a, b) => Number(b.isValue) - Number(a.isValue));
}

function lineOf({ name, isValue, members }) {
  return `  ${isValue ? '' : 'type '}${name}${members.length > 0 ? `: ${members.join(', ')}` : ''}`;
}

function print(text) {
  process.stdout.write(`${text}\n`);
}
