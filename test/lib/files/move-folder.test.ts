import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commitMove, type FolderMove, type MoveStep, moveFolder, undoMove } from '../../../lib/files/index.ts';
import { CANNOT_MOUNT, folderElsewhere, NOWHERE_ELSE } from '../../helpers/file-systems.ts';
import { tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { treeOf } from '../../helpers/tree-of.ts';

const SKILL = {
  'tea/SKILL.md': '---\nname: tea\n---\n',
  'tea/scripts/run.sh': { content: 'echo\n', mode: 0o750 },
  'tea/examples/other/SKILL.md': 'an example\n',
  'tea/.git/config': 'x\n',
  'tea/linked': { link: '../elsewhere' },
} as const;

const STEPS: readonly MoveStep[] = ['copying', 'copied', 'aside'];

/** A folder on one file system, and where it is to go on another. */
function apart(): FolderMove {
  const base = tempFolder(SKILL);
  return {
    from: { base, path: 'tea' },
    to: { base: folderElsewhere(), path: 'archive/tea-1' },
    temporary: '.under-way',
  };
}

/** Nothing goes on after it, as after a kill. */
class Killed extends Error {}

function killAt(step: MoveStep, nth = 1) {
  let left = nth;
  return (at: MoveStep): void => {
    if (at === step && --left === 0) throw new Killed();
  };
}

const whole = (move: FolderMove): { readonly from: unknown; readonly to: unknown } => ({
  from: readdirSync(move.from.base).includes('tea') ? treeOf(join(move.from.base, 'tea')) : undefined,
  to: existsSync(join(move.to.base, move.to.path)) ? treeOf(join(move.to.base, move.to.path)) : undefined,
});

const leftovers = ({ from, to }: FolderMove): readonly string[] =>
  [from.base, to.base].flatMap((base) => Object.keys(treeOf(base)).filter((path) => path.includes('.under-way')));

describe.skipIf(NOWHERE_ELSE !== '')(`a folder that moves to another file system ${NOWHERE_ELSE}`, () => {
  it('is there with modes, links and times, and is put aside until the move is settled', () => {
    const move = apart();
    const before = whole(move).from;
    moveFolder(move);
    expect(whole(move)).toEqual({ from: undefined, to: before });
    expect(leftovers(move)).not.toEqual([]);
    commitMove(move);
    commitMove(move);
    expect(whole(move)).toEqual({ from: undefined, to: before });
    expect(leftovers(move)).toEqual([]);
  });

  it.each([...STEPS.map((step) => [step, 1] as const), ['copying', 3] as const])(
    'is whole where it was after a kill at the step %s (%i)',
    (step, nth) => {
      const move = apart();
      const before = whole(move).from;
      expect(() => moveFolder({ ...move, onStep: killAt(step, nth) })).toThrow(Killed);
      const { from, to } = whole(move);
      expect(to).toBe(undefined);
      if (step !== 'aside') expect(from).toEqual(before);
      for (let round = 0; round < 2; round++) {
        undoMove(move);
        expect(whole(move)).toEqual({ from: before, to: undefined });
        expect(leftovers(move)).toEqual([]);
      }
      moveFolder(move);
      commitMove(move);
      expect(whole(move)).toEqual({ from: undefined, to: before });
    },
  );

  it('comes back after a kill in the middle of bringing it back', () => {
    const move = apart();
    const before = whole(move).from;
    const [from, to] = [move.from, move.to].map(({ base, path }) => join(base, path)) as [string, string];
    const [aside, copy] = [join(from, '../.under-way'), join(to, '../.under-way')];
    moveFolder(move);
    renameSync(to, copy);
    undoMove(move);
    expect([whole(move), leftovers(move)]).toEqual([{ from: before, to: undefined }, []]);

    moveFolder(move);
    renameSync(to, copy);
    renameSync(aside, from);
    rmSync(join(copy, 'SKILL.md'));
    undoMove(move);
    expect([whole(move), leftovers(move)]).toEqual([{ from: before, to: undefined }, []]);

    moveFolder(move);
    rmSync(join(aside, 'SKILL.md'));
    commitMove(move);
    expect([whole(move), leftovers(move)]).toEqual([{ from: undefined, to: before }, []]);
  });

  it('comes back when it was there already, and leaves alone what somebody else has put in either place meanwhile', () => {
    const move = apart();
    const before = whole(move).from;
    moveFolder(move);
    undoMove(move);
    expect(whole(move)).toEqual({ from: before, to: undefined });
    expect(leftovers(move)).toEqual([]);

    expect(() => moveFolder({ ...move, onStep: killAt('copied') })).toThrow(Killed);
    writeTree(move.to.base, { 'archive/tea-1/theirs.md': 'theirs\n' });
    undoMove(move);
    expect(whole(move)).toEqual({ from: before, to: { 'theirs.md': expect.stringContaining('theirs') } });
    rmSync(join(move.to.base, 'archive/tea-1'), { recursive: true });

    moveFolder(move);
    mkdirSync(join(move.from.base, 'tea'));
    expect(() => undoMove(move)).toThrow(expect.objectContaining({ code: 'WRITE_FAILED' }));
    rmSync(join(move.from.base, 'tea'), { recursive: true });
    undoMove(move);
    expect(whole(move)).toEqual({ from: before, to: undefined });
  });

  it('stays where it is when something in it cannot be copied', () => {
    const move = apart();
    execFileSync('mkfifo', [join(move.from.base, 'tea/pipe')]);
    expect(() => moveFolder(move)).toThrow(expect.objectContaining({ code: 'WRITE_FAILED' }));
    undoMove(move);
    expect(Object.keys(whole(move).from as object)).toContain('SKILL.md');
    expect([whole(move).to, leftovers(move)]).toEqual([undefined, []]);
  });

  it.skipIf(CANNOT_MOUNT !== '')(
    `may be of a layer whose folders cannot be renamed: it goes when the move is settled, but for what is written into it meanwhile ${CANNOT_MOUNT}`,
    () => {
      const layers = tempFolder();
      for (const name of ['l', 'u', 'w', 'merged']) mkdirSync(join(layers, name));
      writeTree(join(layers, 'l'), SKILL);
      const merged = join(layers, 'merged');
      const options = `lowerdir=${layers}/l,upperdir=${layers}/u,workdir=${layers}/w`;
      execFileSync('mount', ['-t', 'overlay', 'overlay', '-o', options, merged]);
      onTestFinished(() => void execFileSync('umount', ['--lazy', merged]));
      const from = { base: merged, path: 'tea' };
      const move = { from, to: { base: tempFolder(), path: 'tea-1' }, temporary: '.under-way' };
      const before = whole(move).from;
      moveFolder(move);
      expect(whole(move)).toEqual({ from: before, to: before });
      undoMove(move);
      expect([whole(move), leftovers(move)]).toEqual([{ from: before, to: undefined }, []]);
      moveFolder(move);
      writeFileSync(join(merged, 'tea/scripts/run.sh'), 'echo changed\n');
      commitMove(move);
      expect(whole(move)).toEqual({
        from: { scripts: 'folder 755', 'scripts/run.sh': '750 echo changed\n' },
        to: before,
      });
      expect(leftovers(move)).toEqual([]);
    },
  );
});
