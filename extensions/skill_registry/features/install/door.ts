import { type Schema, schema } from '../../../../lib/arguments/index.ts';
import { actor, text, texts } from '../../core/checked-calls.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import { guard } from '../guard/door.ts';
import { history } from '../history/door.ts';
import type { RegistryOrigin } from './api.ts';
import { commands } from './commands/index.ts';
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
  commands: async () => commands,
};

// --- internal ---

const word = schema((z) => z.string().optional());
const addOptions = schema((z) => {
  const flag = z.boolean().optional();
  const names = z.array(z.string()).optional();
  return z
    .strictObject({
      agents: names,
      skills: names,
      all: flag,
      link: flag,
      cwd: word(),
      to: word(),
      headers: z.record(z.string(), z.string()).optional(),
    })
    .optional();
});
const importOptions = schema((z) => z.strictObject({ name: word(), cwd: word() }).optional());
const removeOptions = schema((z) => z.strictObject({ asInstalled: z.boolean().optional() }).optional());
const restoreOptions = schema((z) => z.strictObject({ to: word() }).optional());
const ids: Schema<readonly string[] | undefined> = schema(() => texts().optional());
const applyOptions: Schema<ApplyOptions | undefined> = schema((z) =>
  z.strictObject({ allowBlock: z.array(z.string()).optional() }).optional(),
);

function open({ call: { later }, of, root }: Core): Opened<InstallPart> {
  const changes = of(history);
  const { assertMayCome, came } = of(guard);
  let originKinds: OriginKinds = {};
  changes.join(async () => {
    const { changeInstalled } = await import('./lock.ts');
    return { changeLock: (change, location) => changeInstalled(root, change, location) };
  });
  const run = <Result>(work: (context: InstallContext) => Promise<Result>): Promise<Result> =>
    changes.run(({ conflicts, context }) =>
      work({ ...context, originKinds, assertMayCome, came, ...(conflicts && { conflicts }) }),
    );
  const planned =
    <Given extends readonly unknown[], P extends AddPlan | UpdatePlan>(plan: (...given: Given) => Promise<P>) =>
    async (...given: Given): Promise<P> => {
      const made = await plan(...given);
      const apply: P['apply'] = (...options) => changes.run(() => made.apply(...options));
      return { ...made, apply: later('apply(actor, options)', [actor, applyOptions], apply) };
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
        run(async (context) => (await import('./add.ts')).planRestore(context, to)),
      ),
    ),
    update: planned(
      later('origin.update(ids)', [ids], (some) =>
        run(async (context) => (await import('./update.ts')).planUpdate(context, some)),
      ),
    ),
    place: () => run(async (context) => (await import('./places.ts')).placeOf(context)),
    sources: () => run(async (context) => (await import('./used-sources.ts')).usedSources(context)),
    verify: () => run(async (context) => (await import('./verify.ts')).verify(context)),
    remove: later('origin.remove(id, actor, options)', [text, actor, removeOptions], (id, by, options) =>
      run(async (context) => (await import('./remove.ts')).remove(context, id, by, options?.asInstalled)),
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
