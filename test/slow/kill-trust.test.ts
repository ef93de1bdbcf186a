import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { type NewDecision, openTrust, type Trust } from '../../lib/trust/index.ts';
import { seededRandom } from '../helpers/seeded-random.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const MODULE = pathToFileURL(join(import.meta.dirname, '../../lib/trust/index.ts')).href;
const KILLS = Number(process.env.KILLS ?? 8);
const SEED = Number(process.env.KILL_SEED ?? 20_261_122);
const OLD = ['one', 'two', 'three'];

const allowed = (name: string): NewDecision => ({ action: 'allow', kind: 'source', path: name, by: 'person:ada' });

function trustOf(names: readonly string[]): Trust {
  const trust = openTrust(join(tempFolder(), 'state'));
  for (const name of names) trust.decide(allowed(name));
  return trust;
}

const namesIn = (trust: Trust): readonly string[] => trust.decisions().map(({ path }) => path);

interface Ended {
  readonly signal: NodeJS.Signals | null;
  /** What it had printed, line by line. */
  readonly lines: readonly string[];
}

/** Decides in a process of its own. @param program - The body of a module; `trust` is open. @param shell - What runs before. */
function decideElsewhere(
  { file }: Trust,
  program: string,
  { killAfterMs, before = '' }: { readonly killAfterMs?: number; readonly before?: string } = {},
): Promise<Ended> {
  const text = `import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { openTrust } = await import(${JSON.stringify(MODULE)});
    const trust = openTrust(${JSON.stringify(join(file, '..'))});
    const allow = (path, reason) => trust.decide({ action: 'allow', kind: 'source', path, by: 'person:ada', reason });
    const print = fs.writeSync;
    ${program}`;
  const line = `${before} exec "$0" --import tsx --input-type=module -e "$1"`;
  const child = spawn('sh', ['-c', line, process.execPath, text], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (data) => {
    // From its first decision on: until then it only starts.
    if (output === '' && killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    output += data;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (_status, signal) => resolve({ signal, lines: output.split('\n').slice(0, -1) }));
  });
}

it.each([
  ['before its first byte', 0],
  ['after its first byte', 1],
  ['in the middle of it', 0.5],
  ['before its last byte', -2],
])('a process that is killed while it writes a line, %s, leaves the decisions before it', async (_title, at) => {
  const trust = trustOf(OLD);
  const { signal } = await decideElsewhere(
    trust,
    `fs.writeSync = (descriptor, bytes) => {
       const end = ${at} < 0 ? bytes.length + ${at} : ${at} % 1 ? Math.floor(bytes.length * ${at}) : ${at};
       print(descriptor, bytes, 0, end);
       process.kill(process.pid, 'SIGKILL');
     };
     syncBuiltinESMExports();
     allow('killed', 'Größe geprüft');`,
  );
  expect(signal).toBe('SIGKILL');
  expect(namesIn(trust)).toEqual(OLD);
  expect(trust.trouble()).toBeUndefined();
  trust.decide(allowed('next'));
  expect(namesIn(trust)).toEqual([...OLD, 'next']);
  trust.decide(allowed('killed'));
  expect(namesIn(trust)).toEqual([...OLD, 'next', 'killed']);
});

it('loses no decision that was recorded, whenever the process that decides is killed', async () => {
  const random = seededRandom(SEED);
  for (let kill = 0; kill < KILLS; kill++) {
    const trust = trustOf(OLD);
    // Long lines, so that writing them takes a part of the time.
    const { signal, lines } = await decideElsewhere(
      trust,
      `for (let at = 0; ; at++) {
         allow('no ' + at, 'x'.repeat(${Math.floor(random() * 30_000)}));
         print(1, 'no ' + at + '\\n');
       }`,
      { killAfterMs: random() * 200 },
    );
    expect(signal).toBe('SIGKILL');
    const where = `kill ${kill} of seed ${SEED}, after ${lines.length} decisions`;
    const names = namesIn(trust);
    expect(names.slice(0, OLD.length + lines.length), where).toEqual([...OLD, ...lines]);
    // The one that it was at, if at all.
    expect(names.length, where).toBeLessThanOrEqual(OLD.length + lines.length + 1);
    trust.decide(allowed('next'));
    expect(namesIn(trust), where).toEqual([...names, 'next']);
  }
});

it('says that a decision has no effect of which the disk takes only a part, and keeps the others', async () => {
  const trust = trustOf(OLD);
  const { lines } = await decideElsewhere(
    trust,
    `try {
       allow('large', 'x'.repeat(8_000));
     } catch ({ code, message }) {
       print(1, code + ' ' + message + '\\n');
     }`,
    // Blocks of 512 or of 1,024 bytes; what is beyond is not written, as on a full disk.
    { before: 'ulimit -f 2;' },
  );
  expect(lines).toEqual([
    expect.stringMatching(/^TRUST_UNUSABLE .*the disk took only \d+ of 8\d+ bytes of it.* no effect\.$/),
  ]);
  expect(readFileSync(trust.file).length).toBeLessThanOrEqual(2_048);
  expect(namesIn(trust)).toEqual(OLD);
  trust.decide(allowed('next'));
  expect(namesIn(trust)).toEqual([...OLD, 'next']);
});
