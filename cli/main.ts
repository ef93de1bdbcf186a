#!/usr/bin/env node
import { runCli } from './run-cli.ts';

process.exitCode = await runCli(process.argv.slice(2), {
  cwd: process.cwd(),
  environment: process.env,
  terminal: process.stdout.isTTY ?? false,
  columns: process.stdout.columns,
  out: (data) => void process.stdout.write(data),
  err: (text) => void process.stderr.write(text),
});
