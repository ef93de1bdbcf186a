import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from '../../helpers/run-command.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

const TEA = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea.' }, 'Boil water.') };

it('prints the catalog, the sources and every problem, reads lines to the end and exits 0', async () => {
  const root = tempFolder({ ...TEA, 'skills/cup/SKILL.md': skillMd({ name: 'mug', description: 'Cups.' }) });
  const { status, stdout, stderr } = await runCommand(['start', '--root', root], { input: '/skills\n' });
  expect(status).toBe(0);
  // On a machine so busy that a step takes five seconds, that is said.
  expect(stderr.replaceAll(/^warn: \w+: takes long to start: .*\n/gm, '')).toBe('');
  expect(stdout).toMatch(
    /SKILL +LINE +BODY +FILES +DESCRIPTION\ncup +\d+ +\d+ +1 +Cups\.\ntea +\d+ +\d+ +1 +How to brew tea\./,
  );
  expect(stdout).toContain('Sources (watched by file events, and every 5 s):');
  expect(stdout).toContain(`skills: 2 skills in ${join(root, 'skills')}`);
  expect(stdout).toContain(`warning NAME_MISMATCH ${join(root, 'skills/cup/SKILL.md')}:2`);
  expect(stdout).toContain('No model is set');
});
