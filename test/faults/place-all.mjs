// Prints each fault that has no place in the sources, or several. Exit status 1 when there is one.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { faults } from './faults.mjs';
import { placeFault, readFunctions } from './operators.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
const files = ['lib', 'kernel', 'extensions', 'cli'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
);
const functions = readFunctions(
  ROOT,
  files.filter((file) => file.endsWith('.ts')),
);
for (const fault of faults) {
  try {
    placeFault(fault, functions);
  } catch (error) {
    process.stdout.write(`${fault.title}: ${error.message}\n`);
    process.exitCode = 1;
  }
}
