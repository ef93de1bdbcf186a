import { spawn } from 'node:child_process';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it, onTestFinished } from 'vitest';
import { packageRoot } from '../../kernel/host.ts';
import { callTool } from '../helpers/mcp.ts';
import { enter } from '../helpers/review-page.ts';
import { scriptedModel, systemText, toolResults } from '../helpers/scripted-model.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

const PAGE = readFileSync(join(packageRoot(), 'docs', 'tutorial.md'), 'utf8');
/** What the page has, and what is used here instead: nobody's model, and a port that is free. */
const MODEL = 'http://localhost:11434/v1';
const PORT = '8000';

it('does what the tutorial says, command by command, and prints what it shows (needs python3)', async () => {
  const home = realpathSync(tempFolder());
  const port = String(await freePort());
  const model = await scriptedModel([
    { call: 'read_skill', args: { skill_id: 'release-notes' } },
    { text: '(the answer of your model)' },
  ]);
  const shell = shellIn(home);
  const shown: string[] = [];
  const printed: string[] = [];
  for (const { command, output } of steps(PAGE)) {
    const lines = output.split('\n');
    const typed = lines.filter((line) => line.startsWith('> ')).map((line) => `${line.slice(2)}\n`);
    const running = shell.run(command.replace(MODEL, model.baseURL).replaceAll(PORT, port), typed.join(''));
    if (command.includes('http.server')) {
      await waitFor('the page', () => fetch(`http://127.0.0.1:${port}/`).catch(() => undefined));
      continue;
    }
    if (command.includes('skill-registry review')) {
      const [address = ''] = await waitFor('the address', () => /^http:\S+$/m.exec(running.printed()));
      await approve(address);
      running.interrupt();
    }
    const status = await running.ended;
    const wanted = comparable(lines.filter((line) => !line.startsWith('> ')).join('\n'));
    const actual = comparable(
      running
        .printed()
        .replaceAll(home, '/home/you')
        .replaceAll(packageRoot(), '/home/you/skill-registry')
        .replaceAll(`:${port}`, `:${PORT}`),
    );
    // A command without a shown output only has to succeed.
    const isAsShown = status === 0 && (output === '' || patternOf(wanted).test(actual));
    shown.push(`$ ${command}\n${wanted}`);
    printed.push(`$ ${command}\n${isAsShown ? wanted : `${actual}\nexit status ${status}`}`);
  }
  expect(printed.join('\n\n')).toBe(shown.join('\n\n'));
  expect(systemText(model.requests[0])).toContain('• `release-notes` — Write release notes');
  expect(model.requests[0]?.tools?.map((tool) => tool.function.name)).toContain('propose_skill_update');
  expect(toolResults(model.requests[1])).toMatchObject([{ success: true, skill_id: 'release-notes' }]);

  const { command, args } = JSON.parse(/```json\n(.*?)```/s.exec(PAGE)?.[1] ?? '') as {
    command: string;
    args: string[];
  };
  const client = new Client({ name: 'test', version: '1.0.0' });
  onTestFinished(() => client.close());
  const ownArgs = args.map((arg) => arg.replace('/home/you', home));
  await client.connect(new StdioClientTransport({ command, args: ownArgs, env: shell.environment, stderr: 'ignore' }));
  const { result } = await callTool(client, 'read_skill', { skill_id: 'release-notes' });
  expect(result).toMatchObject({
    success: true,
    content: expect.stringContaining('Put what breaks existing use first'),
  });
});

// --- internal ---

/** Presses the button of the first proposal in the inbox. */
async function approve(address: string): Promise<void> {
  const page = await enter(address);
  const [proposal = ''] = /\/proposals\/[^"]+/.exec((await page.get('/')).text) ?? [];
  const { status } = await page.send(proposal, `${proposal}/approve`);
  expect(status).toBe(303);
}

/** Without what is another in each run. */
function comparable(text: string): string {
  return text
    .trimEnd()
    .replace(/(?<=release-notes-)\d{8}T\d{6}Z-[0-9a-f]{6}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?/g, 'TIME')
    .replace(/\b\d{4}-\d\d-\d\d\b/g, 'DAY')
    .replace(/(?<=:)\d+\/open\/\S+/g, 'ADDRESS');
}

/** `…` at the end of a line stands for the rest of it, a line `...` for any lines. */
function patternOf(shown: string): RegExp {
  const lines = shown.split('\n').map((line) => {
    if (line === '...') return '(?:.*\\n)*?';
    const [, start = '', goesOn] = /^(.*?)(…?)$/.exec(line) ?? [];
    return `${start.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}${goesOn ? '.*' : ' *'}\\n`;
  });
  return new RegExp(`^${lines.join('')}$`.replace('\\n$', '\\n?$'));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The commands of the page in order, each with the output that the page shows below it. */
function steps(page: string): readonly { readonly command: string; readonly output: string }[] {
  const found = page.matchAll(/```sh\n(.*?)\n```\n(?:\n```text\n(.*?)```)?/gs);
  return [...found].map(([, command = '', output = '']) => ({ command, output: output.trimEnd() }));
}

interface Running {
  /** Its exit status. */
  readonly ended: Promise<number | null>;
  /** Ctrl+C. */
  interrupt(): void;
  printed(): string;
}

/** A person's terminals: an empty home, nothing of the environment of the tests, the working folder kept from block to block. */
function shellIn(home: string) {
  const cwdFile = join(home, '.cwd');
  writeFileSync(cwdFile, packageRoot());
  const path = [join(home, '.local', 'bin'), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'];
  const environment = { HOME: home, PATH: path.join(delimiter), USER: 'you' };
  const run = (command: string, input: string): Running => {
    const script = `cd "$(cat ~/.cwd)" && exec 2>&1\ntrap 'pwd > ~/.cwd' EXIT\ntrap : INT\nset -e\n${command}\n`;
    const child = spawn('/bin/sh', ['-c', script], { env: environment, detached: true });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    // A command that has ended takes no more input, not even its end; what it printed and its status say what was wrong.
    child.stdin.on('error', () => {}).end(input);
    const signal = (name: NodeJS.Signals): void => {
      try {
        process.kill(-(child.pid as number), name);
      } catch {
        // It has ended.
      }
    };
    onTestFinished(() => signal('SIGKILL'));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { interrupt: () => signal('SIGINT'), ended, printed: () => text };
  };
  return { environment, run };
}
