import { readMapping } from '../../../../kernel/host.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { readNamedFile } from '../../../../lib/files/index.ts';
import { abortAfter, aborted } from '../../../../lib/waiting/index.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import { guard } from '../guard/door.ts';
import { readManaged } from './managed-file.ts';
import type { Policies } from './policies.ts';
import { NO_POLICY, type PolicyConfig, policyKey } from './rules.ts';

/** Which skills may be given, as pages say. Needs the guard, install and pages. */
export const policy: Feature = {
  id: 'policy',
  config: { keys: { policy: { read: policyKey, default: NO_POLICY, after: 'gates' } } },
  open,
};

// --- internal ---

const ASK_EVERY_MS = 60_000;

function open(core: Core): Opened {
  const ofFile = namedByConfig(core);
  let policies: Policies | undefined;
  const isNeeded = (): boolean =>
    ofFile.from !== '' ||
    readManaged() !== undefined ||
    (!core.closing.signal.aborted &&
      core.catalog.sources().some(({ kind, policy }) => policy ?? kind === 'well-known'));
  /** Most roots have none, and need no more code. */
  const load = async (anyway = false): Promise<Policies | undefined> => {
    if (!policies && (anyway || isNeeded())) {
      const { createPolicies } = await import('./policies.ts');
      policies ??= createPolicies(core, ofFile);
    }
    return policies;
  };
  core.of(guard).alsoHolds({
    heldBecause: (...given) => policies?.heldBecause(...given),
    hasChanged: () => policies?.hasChanged() ?? false,
    renew: async () => (await load())?.renew(),
    assertMayCome: async (...given) => (await load(given[2] !== undefined))?.assertMayCome(...given),
    came: (...given) => void load(true).then((loaded) => loaded?.came(...given)),
  });
  return {
    problems: () => policies?.problems() ?? [],
    beforeScan: async () => (await load())?.beforeScan(),
    /** A deny of a page, and the end of its age, take effect while nobody asks. */
    async background(signal) {
      while (core.config.watch.mode !== 'off' && !signal.aborted) {
        await aborted(abortAfter(ASK_EVERY_MS, signal));
        if (!signal.aborted) await (await load())?.look();
      }
    },
  };
}

/** A config that a merge broke goes on with defaults, which must not end the policy that it names. */
function namedByConfig({ config: { policy: known }, configFile, trusted }: Core): PolicyConfig {
  if (known.from !== '' || !trusted) return known;
  const text = withFallback(() => readNamedFile(configFile, MAX_CONFIG, { own: true }).toString('utf8'), '');
  const isBroken = /^[^#\n]*\bpolicy["']?\s*:/m.test(text) && !('values' in readMapping(text));
  return isBroken ? { ...known, from: `${configFile}, which is broken,` } : known;
}

const MAX_CONFIG = 1_048_576;
