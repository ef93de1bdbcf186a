import { type Schema, schema } from '../../../../lib/arguments/index.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import { guard } from '../guard/door.ts';
import { install } from '../install/door.ts';
import type { PublishOptions } from './publish/types.ts';
import { pageKind } from './source-kind.ts';

/** Pages with skills: as a source, to install from, and to publish. Needs install and the guard. */
export const pages: Feature = {
  id: 'pages',
  sources: [pageKind],
  open,
  commands: async () => (await import('./publish/commands.ts')).commands,
};

// --- internal ---

const publishOptions: Schema<PublishOptions> = schema((z) =>
  z.strictObject({ to: z.string(), ids: z.array(z.string()).optional() }),
);

function open(core: Core): Opened {
  const { catalog, root } = core;
  const { heldSkills } = core.of(guard);
  const { addKinds, origin } = core.of(install);
  addKinds({ 'well-known': async (...given) => (await import('./open-page.ts')).openWellKnown(...given) });
  // Needs no history, so it works where none can be opened.
  const publish = core.call.later('origin.publish(options)', [publishOptions], async (options: PublishOptions) => {
    core.assertOpen();
    return (await import('./publish/publish.ts')).publish({ root, catalog, heldSkills }, options);
  });
  return { registry: { origin: { ...origin, publish } } };
}
