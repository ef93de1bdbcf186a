import { expect, it } from 'vitest';
import { corpusFolder, unpackCorpus } from '../helpers/corpus.ts';
import { spawnCommand } from '../helpers/run-command.ts';

const NEEDS = '(skipped without SKILL_CORPUS)';
const MAX_RESIDENT_KIB = 256 * 1024;
/** Writes the peak of resident memory as the last line of standard error. */
const MEASURE =
  "--import=data:text/javascript,process.on('exit',()=>console.error('peak='+process.resourceUsage().maxRSS))";

it.skipIf(!corpusFolder)(
  `doctor reads all of it, and counts every body, in no more than 256 MiB of resident memory ${NEEDS}`,
  async () => {
    const corpus = unpackCorpus(corpusFolder ?? '');
    const { stdout, stderr } = await spawnCommand(['doctor', '--json', '--skills', corpus], {
      cwd: corpus,
      environment: { NODE_OPTIONS: MEASURE },
    });
    expect(JSON.parse(stdout)).toMatchObject({ skills: 1801 });
    const [, peak] = /^peak=(\d+)$/m.exec(stderr) ?? [];
    // Less than a bare Node takes would be another unit.
    expect(Number(peak)).toBeGreaterThan(30 * 1024);
    expect(Number(peak)).toBeLessThanOrEqual(MAX_RESIDENT_KIB);
  },
);
