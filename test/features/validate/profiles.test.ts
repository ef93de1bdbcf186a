import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FoundSkillFile } from '../../../extensions/skill_registry/core/sources/walk/find-skill-files.ts';
import { SkillFileReader } from '../../../extensions/skill_registry/core/sources/walk/read-skill-files.ts';
import { PROFILES } from '../../../extensions/skill_registry/features/validate/profiles.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

function skillFile(content: string | Uint8Array): FoundSkillFile {
  const dir = join(tempFolder({ 'tidy/SKILL.md': content }), 'tidy');
  const file = join(dir, 'SKILL.md');
  return { dir, file, realDir: dir, realFile: file };
}

describe.each(PROFILES)('under $name', (profile) => {
  const { code, name } = profile;
  const reader = () => new SkillFileReader({ profile }, () => ({ id: 'tidy', source: 'own', qualifiedId: 'own:tidy' }));
  const sound = skillMd({ name: 'tidy', description: 'Tidies up whatever lies about.' });
  const read = (found: FoundSkillFile) => reader().read(found, 100_000).file;
  const refused = (found: FoundSkillFile, line: number, message: string) => ({
    problems: [{ code, severity: 'error', file: found.file, line, message, details: { profile: name } }],
  });

  it('a file that is not UTF-8 throughout is refused', () => {
    const found = skillFile(Buffer.concat([Buffer.from(sound), Buffer.of(0xe9)]));
    const file = read(found);
    expect(file).toMatchObject(refused(found, 7, 'SKILL.md is not UTF-8 text; save it as UTF-8'));
    expect(file.header).toBeUndefined();
    expect(read(skillFile(`${sound}\ufffd`)).problems).toEqual([]);
  });

  it('a file whose name is in other letter case is refused, but not skill.md', () => {
    const named = (fileName: string): FoundSkillFile => {
      const dir = join(tempFolder({ [`tidy/${fileName}`]: sound }), 'tidy');
      const file = join(dir, fileName);
      return { dir, file, realDir: dir, realFile: file };
    };
    const found = named('Skill.md');
    expect(read(found)).toMatchObject(refused(found, 1, 'Missing required file: SKILL.md'));
    expect(read(found).header).toBeUndefined();
    expect(read(named('skill.md')).problems).toEqual([]);
  });

  it('a file that is a skill by itself may have any name', () => {
    const found = skillFile(sound);
    const file = join(found.dir, 'tidy.md');
    renameSync(found.file, file);
    expect(read({ ...found, file, realFile: file, bare: true }).problems).toEqual([]);
  });

  it('each refusal has the line of its field', () => {
    const lines = (content: string) => read(skillFile(content)).problems.map(({ line }) => line);
    const zz = '---\ndescription: Tidies up whatever lies about.\nzz: 1\nname: Tidy\n---\n';
    expect(lines(zz)).toEqual([3, 4, 4]);
    expect(lines('Text.')).toEqual([1]);
    expect(lines('---\nname: tidy\ndescription: a: b\n---\n')).toEqual([3]);
    expect(lines('---\nname: tidy\n---\n')).toEqual([1]);
    if (name === 'strict') {
      expect(lines(sound.replace('\n---\n\n', '\nscripts: [none.sh]\n---\n\n'))).toEqual([4]);
    }
  });
});
