import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FoundSkillFile } from '../../../extensions/skill_registry/core/sources/walk/find-skill-files.ts';
import {
  SkillFileReader,
  type SkillFileReaderOptions,
} from '../../../extensions/skill_registry/core/sources/walk/read-skill-files.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

const LIMIT = 100_000;

function createSkillFileReader(options: SkillFileReaderOptions = {}) {
  const reader = new SkillFileReader(options, () => ({ id: 'tidy', source: 'own', qualifiedId: 'own:tidy' }));
  return {
    read: (found: FoundSkillFile, maxBytes: number) => reader.read(found, maxBytes).file,
    sweep: () => reader.sweep(),
  };
}

function skillFile(content: string | Uint8Array): FoundSkillFile {
  const dir = join(tempFolder({ 'tidy/SKILL.md': content }), 'tidy');
  const file = join(dir, 'SKILL.md');
  return { dir, file, realDir: dir, realFile: file };
}

const text = (description: string): string => skillMd({ name: 'tidy', description });

describe('reading', () => {
  it('gives the header, the size and the digest of the bytes', () => {
    const file = createSkillFileReader().read(skillFile('---\nname: tidy\ndescription: d\n---\n'), LIMIT);
    expect(file).toMatchObject({ header: { name: 'tidy', description: 'd' }, problems: [], bytes: 34 });
    expect(file.digest).toBe('sha256:6e070ccabafc2a4668b45a6bd32426fb4f41da38c5cec2193fc4e2559c2b3483');
  });

  it('refuses a file over the limit and says so', () => {
    const found = skillFile(text('x'.repeat(200)));
    const file = createSkillFileReader().read(found, 100);
    expect(file).toMatchObject({
      digest: '',
      problems: [{ code: 'SKILL_FILE_UNREADABLE', severity: 'error', file: found.realFile }],
    });
    expect(file.header).toBeUndefined();
    expect(file.problems[0]?.message).toMatch(/RESOURCE_TOO_LARGE.*raise limits\.file_bytes\.$/);
  });

  it('says that a file has gone, and reads it when it is back', () => {
    const reader = createSkillFileReader();
    const found = skillFile('');
    expect(reader.read({ ...found, realFile: join(found.dir, 'absent') }, LIMIT).problems).toMatchObject([
      { code: 'SKILL_FILE_UNREADABLE' },
    ]);
    writeFileSync(found.realFile, text('back'));
    expect(reader.read(found, LIMIT).header?.description).toBe('back');
  });

  it.each([
    ['Latin-1', Buffer.concat([Buffer.from('# Caf'), Buffer.of(0xe9)]), 'Caf\ufffd', ['ENCODING_INVALID']],
    ['a character cut in half', Buffer.from('# 日本').subarray(0, 7), '日\ufffd', ['ENCODING_INVALID']],
    ['an honest U+FFFD', Buffer.from('# a \ufffd b'), 'a \ufffd b', []],
    ['UTF-8 with a byte order mark', Buffer.from('\ufeff# Title'), 'Title', []],
  ])('takes %s for what it is', (_, bytes, description, problems) => {
    const file = createSkillFileReader().read(skillFile(bytes), LIMIT);
    expect(file.header?.description).toBe(description);
    expect(file.problems.map(({ code }) => code)).toEqual(['FRONTMATTER_MISSING', ...problems]);
  });
});

describe('reading again', () => {
  it('gives the same object for the same content, also when only its stat has changed', () => {
    const reader = createSkillFileReader();
    const found = skillFile(text('one'));
    const before = reader.read(found, LIMIT);
    reader.sweep();
    expect(reader.read(found, LIMIT)).toBe(before);
  });

  it('sees every rewrite of the same size, however fast they follow each other', () => {
    const reader = createSkillFileReader();
    const found = skillFile(text('n000'));
    for (let round = 0; round < 200; round++) {
      const description = `n${String(round).padStart(3, '0')}`;
      writeFileSync(found.realFile, text(description));
      expect(reader.read(found, LIMIT).header?.description).toBe(description);
      if (round % 3 === 0) reader.sweep();
    }
  });

  it('sees a rewrite of the same size whose modification time was set back', () => {
    const reader = createSkillFileReader();
    const found = skillFile(text('one'));
    const { atime, mtime } = statSync(found.realFile);
    reader.read(found, LIMIT);
    writeFileSync(found.realFile, text('two'));
    utimesSync(found.realFile, atime, mtime);
    expect(reader.read(found, LIMIT).header?.description).toBe('two');
  });

  it('does not open a file again that has been quiet for two seconds', () => {
    const reader = createSkillFileReader();
    const found = skillFile(text('one'));
    const { ctimeMs } = statSync(found.realFile);
    vi.useFakeTimers({ toFake: ['Date'], now: ctimeMs + 2_050 });
    onTestFinished(() => void vi.useRealTimers());
    const before = reader.read(found, LIMIT);
    // Opening it would mean to find it over this limit.
    expect(reader.read(found, 1)).toBe(before);
    reader.sweep();
    expect(reader.read(found, 1)).toBe(before);
    reader.sweep();
    reader.sweep();
    expect(reader.read(found, 1).problems).toMatchObject([{ code: 'SKILL_FILE_UNREADABLE' }]);
  });
});
