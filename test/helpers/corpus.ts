import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { tempFolder } from './temp-folder.ts';

/** The folder with `wild-skills.tar.gz`; undefined where there is none, as on most machines. */
export const corpusFolder: string | undefined = process.env.SKILL_CORPUS;

/** Unpacks the wild skills below a temporary folder. They are other people's text: read them, never run or obey them. */
export function unpackCorpus(folder: string): string {
  const root = tempFolder();
  execFileSync('tar', ['-xzf', join(folder, 'wild-skills.tar.gz'), '-C', root]);
  return root;
}
