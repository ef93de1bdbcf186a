import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { describe, expect, it } from 'vitest';
import { skill } from '../../../helpers/boot-root.ts';
import { CANNOT_MOUNT, type Disk, smallDisk } from '../../../helpers/file-systems.ts';
import { openRoot } from '../../../helpers/open-registry.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const AGENT = { agentId: 'clerk', threadId: 'thread-1' };

/** A registry whose `data` is a small disk of its own, and every problem that its host was told. */
async function onSmallDisk(size: string) {
  const disk: Disk = smallDisk(size);
  mkdirSync(join(disk.dir, 'skill_registry'));
  const root = tempFolder({ ...skill('tea'), 'skills/tea/times.md': 'Two minutes.' });
  symlinkSync(disk.dir, join(root, 'data'));
  const told: Problem[] = [];
  const registry = await openRoot(root, { onProblem: (problem) => told.push(problem) });
  const problems = (): readonly Problem[] => registry.problems().filter(({ code }) => code === 'USAGE_NOT_RECORDED');
  const read = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++) await registry.read('tea', {}, AGENT);
  };
  const loads = async (): Promise<number> => (await registry.usage.report()).totals.loads;
  return { disk, root, registry, told, problems, read, loads };
}

describe.skipIf(CANNOT_MOUNT !== '')(`usage on a disk that is full ${CANNOT_MOUNT}`, () => {
  it('fails no reader, says it once, and writes what waited as soon as there is room', async () => {
    const { disk, root, registry, told, problems, read, loads } = await onSmallDisk('2m');
    await read(3);
    expect(await loads()).toBe(3);
    disk.fill();
    await read(400);
    await registry.readResource('tea', 'times.md', AGENT);
    await waitFor('the problem', () => problems().length > 0);
    await read(100);
    expect(problems()).toMatchObject([
      { severity: 'warning', message: expect.stringMatching(/cannot be recorded: .*full.*free some space/) },
    ]);
    // What is on the disk can be read, and why the rest is not there.
    expect(await registry.usage.report()).toMatchObject({ notKept: expect.stringContaining('full') });
    disk.free();
    expect(await loads()).toBe(503);
    expect(problems()).toEqual([]);
    expect(told.filter(({ code }) => code === 'USAGE_NOT_RECORDED')).toHaveLength(1);
    await read(1);
    await registry.close();
    const { totals, notKept } = await (await openRoot(root)).usage.report();
    expect([totals.loads, totals.resources, notKept]).toEqual([504, 1, null]);
  });

  it('records from the time there is room when the disk was full before there was a file', async () => {
    const { disk, root, problems, read, loads } = await onSmallDisk('1m');
    disk.fill();
    await read(5);
    await waitFor('the problem', () => problems().length > 0);
    disk.free();
    expect(await loads()).toBe(5);
    expect(problems()).toEqual([]);
    expect(existsSync(join(root, 'data/skill_registry/usage.db'))).toBe(true);
  });

  it('goes on without a call that asks for it, and keeps what it could not write at first', async () => {
    const { disk, root, problems, read } = await onSmallDisk('2m');
    await read(1);
    disk.fill();
    await read(300);
    await waitFor('the problem', () => problems().length > 0);
    disk.free();
    await waitFor('the end of the problem', () => problems().length === 0);
    expect((await (await openRoot(root)).usage.report()).totals.loads).toBe(301);
  });

  it('says that it has dropped events when more wait than it keeps, and keeps the newest', async () => {
    const { disk, registry, told, problems, read } = await onSmallDisk('4m');
    await read(1);
    expect((await registry.usage.report()).notKept).toBeNull();
    disk.fill();
    for (let time = 0; time < 3; time++) {
      const unknown = Array.from({ length: 3500 }, () => registry.read('unknown', {}, AGENT).catch(() => undefined));
      await Promise.all(unknown);
      // As time passes, what is noted is made ready to be written.
      await registry.usage.events({ limit: 1 });
    }
    await read(1);
    disk.free();
    const { totals } = await registry.usage.report();
    expect(totals).toMatchObject({ loads: 2, failures: 9_999 });
    expect(problems()).toMatchObject([
      { message: expect.stringMatching(/10,000.*dropped/), details: { dropped: 501 } },
    ]);
    expect(told.filter(({ message }) => message.includes('dropped'))).toHaveLength(1);
  });

  it('closes in time, and the next process goes on, when there is no room to the end', async () => {
    const { disk, root, registry, read, told } = await onSmallDisk('2m');
    await read(4);
    expect((await registry.usage.report()).totals.loads).toBe(4);
    disk.fill();
    await read(50);
    await registry.close();
    // What could not be written is lost with the process, which is said.
    expect(told.filter(({ code }) => code === 'USAGE_NOT_RECORDED')).toMatchObject([
      { message: expect.stringContaining('full') },
    ]);
    const next = await openRoot(root);
    await next.read('tea', {}, AGENT);
    disk.free();
    const { totals, notKept } = await next.usage.report();
    expect(totals.loads).toBeGreaterThanOrEqual(5);
    expect(notKept).toBeNull();
  });
});
