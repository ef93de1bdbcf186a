import { expect, it } from 'vitest';
import { runCommand } from '../../../helpers/run-command.ts';

it('is not left out by an option of the command', async () => {
  expect((await runCommand(['list', '--help'])).stdout).not.toContain('guard');
  expect((await runCommand(['list', '--no-guard'])).stderr).toContain("unknown option '--no-guard'");
});
