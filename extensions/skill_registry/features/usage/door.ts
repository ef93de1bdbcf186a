import { among } from '../../core/config/config-keys.ts';
import { bool, objectOf, oneOf, type Reader, readerOf } from '../../core/config/readers.ts';
import type { Feature } from '../../core/feature.ts';
import { commands } from './commands.ts';
import { openUsage } from './usage.ts';

/** What agents did with skills. Needs the history, for revisions of what was loaded. */
export const usage: Feature = {
  id: 'usage',
  config: { keys: { usage: { read: recording(), default: true, harmless: among(false) } } },
  open: openUsage,
  commands: async () => commands,
};

// --- internal ---

function recording(): Reader<boolean | { readonly queries: 'keep' }> {
  const keep = objectOf<{ readonly queries: 'keep' }>({ queries: oneOf('keep') }, {}, ['queries']);
  return readerOf({ anyOf: [bool.schema, keep.schema] }, (value, at) =>
    typeof value === 'object' ? keep(value, at) : bool(value, at),
  );
}
