import { isCodedError } from 'skill-registry/kernel';
import { createMeteredBreaks, takeSteps } from '../../../../lib/breaks/index.ts';
import { resourceNotFound } from '../../../../lib/files/index.ts';
import type { JudgedFile, RemoteFiles } from '../../core/skill/guard.ts';
import type { Skill } from '../../core/skill/skill.ts';
import type { Present, SkillFiles } from './files-for-inspection.ts';
import type { InspectionEntry, Inspections } from './inspections.ts';
import { pathOf } from './judged-lines.ts';

export interface InspectedSkillsOptions {
  readonly loadFiles: () => Promise<SkillFiles>;
  /** The files of a skill with `remote`; undefined when its source is gone. */
  readonly remote?: (skill: Skill) => RemoteFiles | undefined;
}

/** Inspects the present files of skills, and knows what was inspected. */
export class InspectedSkills {
  readonly #options: InspectedSkillsOptions;
  readonly #inspections: Inspections;
  #files: Promise<SkillFiles> | undefined;

  constructor(options: InspectedSkillsOptions, inspections: Inspections) {
    this.#options = options;
    this.#inspections = inspections;
  }

  /** Inspects unless it is known. `tell` gets the processor time so far. @throws RESOURCE_NOT_FOUND. */
  async inspect(
    skill: Skill,
    judged?: JudgedFile,
    tell: (spentMs: number) => void = () => undefined,
  ): Promise<{ readonly entry: InspectionEntry; readonly listing?: Present['listing'] }> {
    if (skill.remote) return { entry: await this.#inspectRemote(skill) };
    this.#files ??= this.#options.loadFiles();
    const files = await this.#files;
    const pause = createMeteredBreaks(tell);
    // The stamp is taken before reading, so that a file that changes meanwhile gets another stamp later.
    const { stamp, listing } = await takeSteps(files.stamp(skill), pause);
    const before = this.#inspections.entryAt(pathOf(skill));
    if (before && stamp !== '' && before.stamp === stamp && this.#hasSeen(before, judged))
      return { entry: before, listing };
    // Where everything is known, no rules are loaded.
    const { inspectFiles } = await import('./inspect-files.ts');
    const read = () => files.read(skill);
    const { isPresent, ...found } = await inspectFiles(read, this.#inspections, judged, pause);
    const { digest, skillDigest, inspection } = found;
    // The stamp belongs to the files on disk.
    const entry = { skillDigest, stamp: isPresent ? stamp : '', digest, verdict: inspection.verdict };
    this.#inspections.keep(pathOf(skill), entry, inspection, { files: found.files, before });
    return { entry, listing };
  }

  /** All files together: a finding may need two. While the server does not answer, the last inspection counts. */
  async #inspectRemote(skill: Skill): Promise<InspectionEntry> {
    const remote = this.#options.remote?.(skill);
    const digest = remote?.digestOf(skill);
    const before = this.#inspections.entryAt(pathOf(skill));
    const known = this.known(skill);
    // Of a skill whose files come when it is read, what its line has.
    if (!remote && known) return known;
    if (!remote || digest === undefined) throw resourceNotFound(skill.id, 'its source does not give its files now');
    try {
      const files = await remote.read(skill);
      const { inspectFiles } = await import('./inspect-files.ts');
      const { inspection } = await inspectFiles(() => files);
      const entry = { skillDigest: skill.digest, stamp: '', digest, verdict: inspection.verdict };
      this.#inspections.keep(pathOf(skill), entry, inspection, { before });
      return entry;
    } catch (error) {
      if (!known || !isCodedError(error)) throw error;
      return known;
    }
  }

  /** Of this SKILL.md. Other files may have changed since; every read checks them. */
  known(skill: Skill): InspectionEntry | undefined {
    const entry = this.#inspections.entryAt(pathOf(skill));
    const isOfIt =
      skill.remote === true
        ? entry?.digest === this.#options.remote?.(skill)?.digestOf(skill)
        : entry?.skillDigest === skill.digest;
    return isOfIt ? entry : undefined;
  }

  /** Whether an inspection saw exactly this file under this path: what rules find depends on both. */
  #hasSeen({ skillDigest, digest }: InspectionEntry, judged: JudgedFile | undefined): boolean {
    if (!judged) return true;
    if (judged.path === 'SKILL.md') return judged.digest === skillDigest;
    return this.#inspections.filesOf(digest)?.get(judged.path) === judged.digest;
  }
}
