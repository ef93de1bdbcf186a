import { unapprovedRootProblem } from '../../../../kernel/host.ts';
import { type Schema, schema } from '../../../../lib/arguments/index.ts';
import { isLoopback } from '../../../../lib/loopback/index.ts';
import type { SourceConfig } from '../../core/config/config.ts';
import { numberFrom, refine, text } from '../../core/config/readers.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import { sourceWithoutSkills } from '../../core/sources/kinds/memory-source.ts';
import type { SkillSource } from '../../core/sources/source.ts';
import type { SourceHost, SourceKind } from '../../core/sources/source-kind.ts';
import { guard } from '../guard/door.ts';
import { install } from '../install/door.ts';
import { headersWithSecrets, secretHeaders } from '../install/secret-headers.ts';
import { commands } from './publish/commands.ts';
import type { PublishOptions } from './publish/types.ts';

const PAGE_EXPECTED = 'expected an https: address (http: only on this machine) without user name, query and fragment';

const pageKind: SourceKind = {
  key: 'wellKnown',
  entry: {
    wellKnown: refine(text, PAGE_EXPECTED, (address) => pageAddress(address) !== undefined),
    headers: secretHeaders,
    interval_seconds: numberFrom(1, 86_400),
  },
  hidden: ['headers'],
  ofAddress: '{ wellKnown: <address> }',
  open: async (config, host) => [await openPageSource(config, host)],
};

/** Pages with skills: as a source, to install from, and to publish. Needs install and the guard. */
export const pages: Feature = {
  id: 'pages',
  sources: [pageKind],
  open,
  commands: async () => commands,
};

// --- internal ---

const publishOptions: Schema<PublishOptions> = schema((z) =>
  z.strictObject({ to: z.string(), ids: z.array(z.string()).optional() }),
);

function open(core: Core): Opened {
  const { catalog, hooks, root } = core;
  const { heldSkills } = core.of(guard);
  const { addKinds, origin } = core.of(install);
  addKinds({
    'well-known': async (origin, names) => {
      const { url, headers, isNamed } = origin;
      // A lock may change with a `git pull`, also where a program gave the config.
      const allows = isNamed ? 'named' : 'decided';
      const secret = headers && headersWithSecrets({ url, headers, allows, getSecret: hooks.getSecret });
      return (await import('./open-page.ts')).openWellKnown(origin, names, secret);
    },
  });
  // Needs no history, so it works where none can be opened.
  const publish = core.call.later('origin.publish(options)', [publishOptions], async (options: PublishOptions) => {
    core.assertOpen();
    return (await import('./publish/publish.ts')).publish({ root, catalog, heldSkills }, options);
  });
  return { registry: { origin: { ...origin, publish } } };
}

/** The page of an unapproved root is never contacted, even if a program names it. */
async function openPageSource(config: SourceConfig, host: SourceHost): Promise<SkillSource> {
  const { wellKnown = '', headers, interval_seconds: seconds = 60 } = config;
  const { asksForSecrets, getSecret = () => undefined, idOr, options, root, trusted } = host;
  const url = pageAddress(wellKnown) ?? '';
  const id = idOr(new URL(url).hostname);
  if (!trusted) {
    const problem = unapprovedRootProblem(root, [`sources (${url})`]);
    return sourceWithoutSkills({ id, kind: 'well-known', location: url }, problem);
  }
  const { createWellKnownSource } = await import('./well-known-source.ts');
  const allows = asksForSecrets ? 'decided' : 'all';
  const secret = headers && { names: headers, fill: () => headersWithSecrets({ url, headers, getSecret, allows }) };
  // Its copy is often new enough.
  const fetching = () => import('./fetch-copy.ts');
  return createWellKnownSource({ ...options, fetching, id, intervalMs: seconds * 1000, secret, url });
}

/** The page without a slash at the end. `text`: its address, or that of its `/.well-known/` index; else undefined. */
export function pageAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))) return undefined;
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') return undefined;
  return url.origin + url.pathname.replace(/\/\.well-known\/.*$/, '').replace(/\/+$/, '');
}
