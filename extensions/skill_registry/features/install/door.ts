import { type Schema, schema } from '../../../../lib/arguments/index.ts';
import { actor, text, texts } from '../../core/checked-calls.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import { history } from '../history/door.ts';
import type { RegistryOrigin } from './api.ts';
import type { OriginKinds } from './open-origin.ts';
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
  let origins: Origins | undefined;
  changes.join(async () => {
    const { changeLock } = await import('./lock.ts');
    return { changeLock: ({ name, entry }) => changeLock(root, name, entry) };
  });
  const run = <Result>(work: (opened: Origins) => Promise<Result>): Promise<Result> =>
    changes.run(async ({ conflicts, context }) => {
      const { createOrigins } = await import('./origins.ts');
      origins ??= createOrigins({ ...context, originKinds, ...(conflicts && { conflicts }) }, trusted);
      return work(origins);
    });
  const planned =
    <Given extends readonly unknown[], P extends AddPlan | UpdatePlan>(plan: (...given: Given) => Promise<P>) =>
    async (...given: Given): Promise<P> => {
      const made = await plan(...given);
      return { ...made, apply: later('apply(actor, options)', [actor, applyOptions], made.apply) };
    };
  const origin: Origins = {
    add: planned(
      later('origin.add(what, options)', [text, addOptions], (...given) => run((opened) => opened.add(...given))),
    ),
    import: planned(
      later('origin.import(path, options)', [text, importOptions], (...given) =>
        run((opened) => opened.import(...given)),
      ),
    ),
    restore: planned(
      later('origin.restore(options)', [restoreOptions], (options) => run((opened) => opened.restore(options))),
    ),
    update: planned(later('origin.update(ids)', [ids], (some) => run((opened) => opened.update(some)))),
    sources: () => run((opened) => opened.sources()),
    verify: () => run((opened) => opened.verify()),
    remove: later('origin.remove(id, actor)', [text, actor], (...given) => run((opened) => opened.remove(...given))),
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
