import { describeError } from 'skill-registry/kernel';
import { renderTemplate } from '../../../../kernel/host.ts';
import { unlessCoded } from '../../../../lib/errors/index.ts';
import { readContained } from '../../../../lib/files/index.ts';
import { onceFor } from '../../../../lib/recent-map/index.ts';
import { foldLine, shorten, withNote, withoutHidden } from '../../../../lib/text/index.ts';
import type { Snapshot } from '../../core/catalog/snapshot.ts';
import type { SkillRegistryConfig } from '../../core/config/config.ts';
import { contentWithNote } from '../../core/read/reading.ts';
import type { Reading } from '../../core/read/types.ts';
import { catalogText } from '../../core/show/catalog-text.ts';
import { namedTools } from '../../core/show/formats.ts';
import { heldOrDisabled, type Scopes } from '../../core/show/visible.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { type Skill, slugOf } from '../../core/skill/skill.ts';

/** A role must be usable as the name of a folder. */
const ROLE = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const MAX_TEMPLATE_BYTES = 262_144;

export interface RolePrompt {
  readonly source: 'skill' | 'legacy' | 'fallback';
  readonly text: string;
}

interface Skills extends Pick<Reading, 'read'> {
  readonly config: Pick<SkillRegistryConfig, 'catalog' | 'tools'>;
  readonly scopes: Scopes;
  snapshot(): Snapshot;
}

/**
 * The Bernstein design: the index of all skills and the body of the skill with that id (`ml_engineer` may be
 * `ml-engineer`); else the legacy template `<templates>/<role>/system_prompt.md`; else one sentence.
 *
 * @param templates - Real folder; it need not exist.
 * @param variables - For the template; a name without a value gives an empty text.
 */
export async function rolePrompt(
  registry: Skills,
  role: string,
  templates: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<RolePrompt> {
  if (!ROLE.test(role)) {
    throw invalidArgument(`A role is a name of letters, digits, - and _, got ${JSON.stringify(role.slice(0, 80))}.`);
  }
  const snapshot = registry.snapshot();
  const skill = snapshot.byId.get(role) ?? snapshot.byId.get(slugOf(role));
  if (skill && heldOrDisabled({}, skill) === undefined) {
    const read = await registry.read(skill.id, { audience: 'binding' });
    const index = await skillIndex(registry, skill.id);
    return {
      source: 'skill',
      text: `${index}\n\n${contentWithNote(read)}`,
    };
  }
  const template = readTemplate(templates, role);
  if (template === undefined) return { source: 'fallback', text: `You are a ${role} specialist.` };
  return { source: 'legacy', text: withNote(withoutHidden(await render(template, variables))) };
}

// --- internal ---

/** By id; the index of thousands of skills takes long. */
const indexesOf = onceFor((_: Snapshot) => new Map<string, string>());

/** A line for each skill that a model may load, by name, within the catalog's budget; `highlight` first, with `* `. */
async function skillIndex({ config, scopes, snapshot: now }: Skills, highlight: string): Promise<string> {
  const snapshot = now();
  const known = indexesOf(snapshot);
  const before = known.get(highlight);
  if (before !== undefined) return before;
  const visible = new Set(scopes.visible({}));
  const shown = snapshot.skills.filter((skill) => skill.id === highlight || visible.has(skill));
  const sorted = shown.sort((a, b) => rank(a.id, highlight) - rank(b.id, highlight) || (a.id < b.id ? -1 : 1));
  const mark = ({ id }: Skill): string => (id === highlight ? '*' : '-');
  const { text } = await catalogText(sorted, {
    budgetTokens: config.catalog.budget_tokens,
    relevance: async () => ({ ranked: sorted.slice(0, 1), fitting: [], pending: 0 }),
    pinned: [highlight],
    tools: namedTools(config.tools),
    format: {
      header: 'Skills:',
      entry: (skill, max = Number.POSITIVE_INFINITY) =>
        `${mark(skill)} ${skill.id}: ${shorten(foldLine(skill.description), max)}`,
      name: (skill) => `${mark(skill)} ${skill.id}`,
      footer: () => undefined,
    },
  });
  known.set(highlight, text as string);
  return text as string;
}

function rank(id: string, highlight: string): number {
  return id === highlight ? 0 : 1;
}

function readTemplate(templates: string, role: string): string | undefined {
  const read = () => readContained(templates, `${role}/system_prompt.md`, MAX_TEMPLATE_BYTES).toString('utf8');
  return unlessCoded(read, undefined, 'RESOURCE_NOT_FOUND');
}

async function render(template: string, variables: Readonly<Record<string, unknown>>): Promise<string> {
  try {
    return await renderTemplate(template, variables, false);
  } catch (error) {
    throw invalidArgument(`The role's template does not render: ${describeError(error)}`);
  }
}
