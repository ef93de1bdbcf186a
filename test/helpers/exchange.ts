import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tempFolder } from './temp-folder.ts';

/**
 * From now on, each opening of a file by this process finds the next of these texts there, in turn: what is read first and what is read
 * after that always differ. Ends with the test.
 *
 * @param file - The only file with its name that is opened.
 */
export function exchangeAtEachOpening(file: string, texts: readonly string[]): void {
  const folder = tempFolder(Object.fromEntries(texts.map((text, index) => [`${index}.text`, text])));
  const name = basename(file);
  const open = fs.openSync;
  let opened = 0;
  fs.openSync = ((path, ...rest) => {
    if (typeof path === 'string' && basename(path) === name) {
      const spare = `${file}.spare`;
      fs.linkSync(join(folder, `${opened++ % texts.length}.text`), spare);
      fs.renameSync(spare, file);
      // Renaming a file to another name of itself leaves both.
      fs.rmSync(spare, { force: true });
    }
    return open(path, ...rest);
  }) as typeof fs.openSync;
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.openSync = open;
    syncBuiltinESMExports();
  });
}

/**
 * From now on, while this process has a file open, its folder has exchanged its name with another one; before and after that both have
 * their own. So what is read is the file of the other folder, and the stats of the file never change. Ends with the test.
 *
 * @param isWanted - Called at each opening. Default: always.
 */
export function openElsewhere(file: string, other: string, isWanted: () => boolean = () => true): void {
  const { openSync: open, closeSync: close } = fs;
  const folder = dirname(file);
  const exchanged = new Set<number>();
  const exchange = (): void => {
    fs.renameSync(folder, `${folder}.away`);
    fs.renameSync(other, folder);
    fs.renameSync(`${folder}.away`, other);
  };
  fs.openSync = ((path, ...rest) => {
    if (path !== file || !isWanted()) return open(path, ...rest);
    exchange();
    const descriptor = open(path, ...rest);
    exchanged.add(descriptor);
    return descriptor;
  }) as typeof fs.openSync;
  fs.closeSync = (descriptor) => {
    close(descriptor);
    if (exchanged.delete(descriptor)) exchange();
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { openSync: open, closeSync: close });
    syncBuiltinESMExports();
  });
}
