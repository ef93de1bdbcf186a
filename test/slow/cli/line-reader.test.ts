import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { LineReader } from '../../../extensions/cli_channel/line-reader.ts';
import { startCommand } from '../../helpers/run-command.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const forever = new AbortController().signal;

/** A reader of a pipe, and what it has said. */
function pipe() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const reader = new LineReader(input as unknown as NodeJS.ReadStream, output as unknown as NodeJS.WriteStream);
  return { input, reader, said: () => String(output.read() ?? '') };
}

/** A reader of a terminal. */
function terminal() {
  const [input, output] = [new PassThrough(), new PassThrough()].map((stream) =>
    Object.assign(stream, { isTTY: true }),
  );
  if (!input || !output) throw new Error('no streams');
  const reader = new LineReader(input as unknown as NodeJS.ReadStream, output as unknown as NodeJS.WriteStream);
  return { input, output, reader };
}

it('gives the lines of a pipe in order, the last one without its end too, and then null', async () => {
  const { input, reader } = pipe();
  input.end(Buffer.concat([Buffer.from('one\r\n\ntw'), Buffer.from('ö\nlast')]));
  const lines: (string | null)[] = [];
  for (let count = 0; count < 5; count++) lines.push(await reader.next(forever));
  expect(lines).toEqual(['one', '', 'twö', 'last', null]);
});

it('reads ahead only so far in a pipe that does not end', async () => {
  const { input, reader } = pipe();
  const chunk = Buffer.from('y\n'.repeat(500));
  for (let count = 0; count < 200; count++) input.write(chunk);
  await waitFor('the reader to stop', () => input.isPaused());
  expect(input.readableLength + input.writableLength).toBeGreaterThan(150 * chunk.length);
  let lines = 0;
  while (lines < 100_000 && (await reader.next(forever)) === 'y') lines++;
  expect(lines).toBe(100_000);
});

it('stays paused while nobody asks, and gives what has arrived when somebody does', async () => {
  const { input, reader } = pipe();
  reader.pause();
  input.write('one\n');
  expect(input.isPaused()).toBe(true);
  reader.resume();
  expect(await reader.next(forever)).toBe('one');
  const stop = new AbortController();
  const nothing = reader.next(stop.signal);
  stop.abort();
  expect(await nothing).toBeNull();
});

it('passes over a line that is too long or no UTF-8, says so, and goes on', async () => {
  const { input, reader, said } = pipe();
  for (let count = 0; count < 40; count++) input.write(Buffer.alloc(50_000, 'x'));
  input.write(Buffer.from('\nok\n'));
  expect(await reader.next(forever)).toBe('ok');
  expect(said()).toBe(
    'A line was not used: it has 2000000 bytes, and at most 1048576 are read. Put long text into a file.\n',
  );
  input.end(Buffer.from('gr\xfcn\nwell\n', 'latin1'));
  expect(await reader.next(forever)).toBe('well');
  expect(said()).toBe('A line was not used: it is not UTF-8 text. Convert it, with iconv for example.\n');
});

it('takes for an answer only what is typed after the question, and a pipe gives none', async () => {
  const { input, output, reader } = terminal();
  input.write('y\n');
  await waitFor('the line', () => String(output.read() ?? '').includes('y'));
  const answers: (string | undefined)[] = [];
  const asked = reader.ask('Run it? [y/N] ', forever).then((answer) => answers.push(answer));
  await waitFor('the question', () => answers.length > 0 || String(output.read() ?? '').includes('Run it?'));
  expect(answers).toEqual([]);
  input.write('n\n');
  await asked;
  expect(answers).toEqual(['n']);
  // What was typed before is what it was: a line.
  expect(await reader.next(forever)).toBe('y');

  const other = pipe();
  other.input.write('y\ny\n');
  expect(await other.reader.ask('Run it? [y/N] ', forever)).toBeUndefined();
  expect(await other.reader.next(forever)).toBe('y');
});

it('waits for one line after the other without a warning of Node', async () => {
  const running = startCommand(['start', '--root', tempFolder()]);
  await running.until('Type /help');
  for (let count = 1; count <= 15; count++) {
    running.child.stdin?.write(`/nothing${count}\n`);
    await running.until(`/nothing${count}`);
  }
  running.child.stdin?.end();
  // No line of the pipe was a command that exists.
  expect(await running.exited).toBe(1);
  expect(running.stderr()).toBe('');
});

it.each(['answered', 'given up'])(
  'does not take for an answer what was being typed, and gives it back: %s',
  async (how) => {
    const [input, output] = [new PassThrough(), new PassThrough()].map((one) => Object.assign(one, { isTTY: true }));
    const reader = new LineReader(input as unknown as NodeJS.ReadStream, output as unknown as NodeJS.WriteStream);
    let said = '';
    output?.on('data', (chunk) => {
      said += chunk;
    });
    input?.write('yes plea');
    await waitFor('the letters', () => said.includes('plea'));
    const asking = reader.ask('Run it? [y/N] ', forever);
    if (how === 'answered') {
      input?.write('\n');
      expect(await asking).toBe('');
    } else {
      input?.write('n');
      await waitFor('the letter', () => said.endsWith('n'));
      reader.interrupt();
      expect(await asking).toBeUndefined();
    }
    reader.prompt();
    await waitFor('the letters', () => said.lastIndexOf('> yes plea') > said.lastIndexOf('Run it?'));
    input?.write('se\n');
    expect(await reader.next(forever)).toBe('yes please');
  },
);
