import { type Schema, schema } from '../../../../lib/arguments/index.ts';
import { futureRealPath } from '../../../../lib/files/index.ts';
import { openTrust } from '../../../../lib/trust/index.ts';
import { knownSkill } from '../../core/admin.ts';
import { by, storedText, text, words } from '../../core/checked-calls.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { commands } from './commands/index.ts';
import { HeldSkills, isFound } from './held-skills.ts';
import { inspectionsFile } from './inspections.ts';
import { createInstalled, installedInto, stampOfFile } from './installed.ts';
import { sourceDecisions } from './revoked.ts';
import type { TrustDecision } from './types.ts';

export interface GuardPart {
  readonly heldSkills: HeldSkills;
  /** Holds skills for reasons that are not in their files. `renew` is called before a skill is judged. */
  alsoHolds(holder: Holder): void;
  /** @throws what a holder has against skills of this source. @param id - Undefined: only the source is known. */
  assertMayCome(source: string, id?: string, page?: AskedPage): Promise<void>;
  /** Notes where a content was fetched from. @param digest - Of all its files. */
  came(digest: string, source: string): void;
}

/** A page that skills come from. `isNamed`: a person has just named the headers, and no file. */
export interface AskedPage {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly isNamed?: boolean | undefined;
}

export interface Holder {
  /** undefined: not for a reason of this holder. @param digest - Of all files, where these were inspected. */
  heldBecause(skill: Skill, digest: string | undefined): string | undefined;
  renew(): Promise<void>;
  /** Whether it holds others than at the last scan. Default: never. */
  hasChanged?(): boolean;
  readonly assertMayCome?: GuardPart['assertMayCome'];
  readonly came?: GuardPart['came'];
}

/** Inspection of skills, and what people decided about them. */
export const guard: Feature<GuardPart> = {
  id: 'guard',
  decisions: sourceDecisions,
  installedInto,
  open,
  commands: async () => commands,
};

// --- internal ---

const action = schema((z) => z.enum(['allow', 'revoke']));
const trustDecision: Schema<TrustDecision> = schema((z) =>
  z.object({ by: by(), reason: storedText().optional(), digest: words() }),
);

function open(core: Core): Opened<GuardPart> {
  const { call, catalog, closing } = core;
  const holders: Holder[] = [];
  const installed = createInstalled(futureRealPath(core.root));
  const { file } = openTrust();
  let decided = stampOfFile(file);
  const heldSkills = new HeldSkills({
    heldBecause: (...given) => holders.map((one) => one.heldBecause(...given)).find((because) => because !== undefined),
    reasonsChanged() {
      const before = decided;
      // Another process may have revoked something.
      decided = stampOfFile(file);
      return decided !== before || holders.some((one) => one.hasChanged?.());
    },
    remote: (skill) => catalog.sourceOf(skill)?.remote,
    isAllowedThere: (skill, findings) => catalog.sourceOf(skill)?.allows?.(skill, findings) ?? false,
    loadFiles: async () => {
      const { filesForInspection } = await import('./files-for-inspection.ts');
      return filesForInspection(() => catalog.sources(), core.config.limits.file_bytes);
    },
    isBroughtIn: (skill) => core.isForeign(skill.source) || installed.has(skill),
    isOfPackage: ({ qualifiedId }) => catalog.noted.builtIn.has(qualifiedId),
    renew: async () => void (await Promise.all(holders.map((one) => one.renew()))),
    onOther: (skill, heldBecause) => {
      if (isFound(heldBecause)) catalog.hold(new Map([[skill.qualifiedId, heldBecause]]));
      return catalog.refresh().catch(() => undefined);
    },
    inspects: core.options.inspect ?? true,
    givesBodies: core.config.inject === 'bodies',
    file: core.options.cache === 'memory' ? undefined : inspectionsFile(),
  });
  /** Of a skill whose files come when it is read, a person sees these; of one that its line holds, the line. */
  const shownSkill = async (id: string): Promise<Skill> => {
    const skill = knownSkill(core, id);
    if (skill.heldBecause === undefined) await catalog.bring(skill);
    return knownSkill(core, id);
  };
  const inspectAll = async (signal: AbortSignal): Promise<void> => {
    const all = () => [...catalog.snapshot().byQualifiedId.values()];
    while (await heldSkills.checkAll(all(), signal)) await catalog.refresh();
  };
  return {
    part: {
      heldSkills,
      alsoHolds: (holder) => void holders.push(holder),
      async assertMayCome(...given) {
        for (const holder of holders) await holder.assertMayCome?.(...given);
      },
      came: (...given) => holders.forEach((holder) => void holder.came?.(...given)),
    },
    guard: {
      admit: heldSkills.admit,
      prepare: heldSkills.prepare,
      heldMeanwhile: heldSkills.heldMeanwhile,
      namesOf: heldSkills.namesOf,
      mayName: heldSkills.mayName,
      notInspected: heldSkills.notInspected,
      mayGive: async (file) => (await heldSkills.inspectAfter(undefined, [file])).blocks.length === 0,
      noteBlocked: heldSkills.noteBlocked,
    },
    admin: {
      trustOf: call.later('admin.trustOf(skillId)', [text], async (id) => heldSkills.trustOf(await shownSkill(id))),
      decideTrust: call.later(
        'admin.decideTrust(action, skillId, decision)',
        [action, text, trustDecision],
        async (wanted, skillId, decision) => {
          const decided = await heldSkills.decide(wanted, await shownSkill(skillId), decision);
          await catalog.refresh();
          return decided;
        },
      ),
      async inspectSkills() {
        core.assertOpen();
        await inspectAll(closing.signal);
      },
    },
    reviewPages: async () => (await import('./pages.ts')).guardPages,
    problems: () => heldSkills.problems(),
    beforeScan: async () => installed.renew(),
    catchUp: inspectAll,
    close: () => heldSkills.close(),
  };
}
