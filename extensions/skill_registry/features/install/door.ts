import { type Schema, schema } from '../../../../lib/arguments/index.ts';
import { actor, text, texts } from '../../core/checked-calls.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import { history } from '../history/door.ts';
import type { RegistryOrigin } from './api.ts';
import type { InstallContext, OriginKinds } from './open-origin.ts';
import type { AddPlan, ApplyOptions, Origins, UpdatePlan } from './types.ts';

export interface InstallPart {
  readonly origin: Origins;
  /** Kinds of origins that other features open. */
  addKinds(kinds: OriginKinds): void;
}

/** Skills from git, npm, archives and folders: add, lock, update, verify, remove. Needs the history and the guard. */
export const install: Feature<InstallPart> = {
  id: 'install',
  open,
  commands: async () => (await import('./commands/index.ts')).commands,
};

// --- internal ---

const word = schema((z) => z.string().optional());
const addOptions = schema((z) => {
  const flag = z.boolean().optional();
  return z
    .strictObject({ skills: z.array(z.string()).optional(), all: flag, link: flag, cwd: word(), to: word() })
    .optional();
});
const importOptions = schema((z) => z.strictObject({ name: word(), cwd: word() }).optional());
const restoreOptions = schema((z) => z.strictObject({ to: word() }).optional());
const ids: Schema<readonly string[] | undefined> = schema(() => texts().optional());
const applyOptions: Schema<ApplyOptions | undefined> = schema((z) =>
  z.strictObject({ allowBlock: z.array(z.string()).optional() }).optional(),
);

function open({ call: { later }, of, root, trusted }: Core): Opened<InstallPart> {
  const changes = of(history);
  let originKinds: OriginKinds = {};
  changes.join(async () => {
    const { changeLock } = await import('./lock.ts');
    return { changeLock: ({ name, entry }) => changeLock(root, name, entry) };
  });
  const run = <Result>(work: (context: InstallContext) => Promise<Result>): Promise<Result> =>
    changes.run(({ conflicts, context }) =>
      work({ ...context, originKinds, trusted, ...(conflicts && { conflicts }) }),
    );
  const planned =
    <Given extends readonly unknown[], P extends AddPlan | UpdatePlan>(plan: (...given: Given) => Promise<P>) =>
    async (...given: Given): Promise<P> => {
      const made = await plan(...given);
      return { ...made, apply: later('apply(actor, options)', [actor, applyOptions], made.apply) };
    };
  const origin: Origins = {
    add: planned(
      later('origin.add(what, options)', [text, addOptions], (what, options = {}) =>
        run(async (context) => (await import('./add.ts')).planAdd(context, what, options)),
      ),
    ),
    import: planned(
      later('origin.import(path, options)', [text, importOptions], (path, options = {}) =>
        run(async (context) => (await import('./import/plan-import.ts')).planImport(context, path, options)),
      ),
    ),
    restore: planned(
      later('origin.restore(options)', [restoreOptions], ({ to } = {}) =>
        run(async (context) => (await import('./restore.ts')).planRestore(context, to)),
      ),
    ),
    update: planned(
      later('origin.update(ids)', [ids], (some) =>
        run(async (context) => (await import('./update.ts')).planUpdate(context, some)),
      ),
    ),
    sources: () => run(async (context) => (await import('./origins.ts')).usedSources(context)),
    verify: () => run(async (context) => (await import('./origins.ts')).verify(context)),
    remove: later('origin.remove(id, actor)', [text, actor], (id, by) =>
      run(async (context) => (await import('./origins.ts')).remove(context, id, by)),
    ),
  };
  return {
    part: {
      origin,
      addKinds: (kinds) => {
        originKinds = { ...originKinds, ...kinds };
      },
    },
    // Publishing belongs to the feature that has pages.
    registry: { origin: origin as RegistryOrigin },
    reviewPages: async () => (await import('./pages/index.ts')).installPages(),
  };
}
