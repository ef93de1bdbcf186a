import { spawn } from 'node:child_process';

/** Starts a program that speaks JSON-RPC, a message a line, on its standard input and output. */
export function startRpc(program, args, { cwd, env }) {
  const running = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map();
  let [buffer, last] = ['', 0];
  running.stdout.on('data', (data) => {
    buffer += data;
    for (let end = buffer.indexOf('\n'); end >= 0; end = buffer.indexOf('\n')) {
      const message = JSON.parse(buffer.slice(0, end));
      buffer = buffer.slice(end + 1);
      waiting.get(message.id)?.(message);
    }
  });
  const send = (message) => running.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    pid: running.pid,
    tell: (method) => send({ method }),
    call: (method, params) =>
      new Promise((done, fail) => {
        last += 1;
        const settle = ({ error, result }) => (error ? fail(new Error(JSON.stringify(error))) : done(result));
        waiting.set(last, settle);
        send({ id: last, method, params });
      }),
    /** Resolves when it has ended. */
    async end() {
      const ended = new Promise((done) => running.once('exit', done));
      running.kill();
      await ended;
    },
  };
}
