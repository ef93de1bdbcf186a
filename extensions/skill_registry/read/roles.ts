import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describeError, isCodedError } from 'skill-registry/kernel';
import { renderTemplate } from '../../../kernel/host.ts';
import { readContained } from '../../../lib/files/index.ts';
import { foldLine, shorten, withNote, withoutHidden } from '../../../lib/text/index.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import { catalogText } from '../show/catalog-text.ts';
import { namedTools } from '../show/formats.ts';
import { heldOrDisabled, pendingSkills, visibleSkills } from '../show/scope.ts';
import { invalidArgument } from '../skill/errors.ts';
import { type Skill, slugOf } from '../skill/skill.ts';
import type { Reading, RolePrompt } from './types.ts';

/** A role must be usable as the name of a folder. */
const ROLE = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const MAX_CACHED = 1000;
const MAX_TEMPLATE_BYTES = 262_144;

/** Expensive parts are cached until a skill or template changes; a body is read each time. */
export interface RoleResolver {
  /**
   * The Bernstein design: the index of all skills and the body of the skill with that id (`ml_engineer` may be
   * `ml-engineer`); else the legacy template `<templates>/<role>/system_prompt.md`; else one sentence.
   *
   * @param templates - Real folder; it need not exist.
   * @param variables - For the template; a name without a value gives an empty text.
   */
  resolve(role: string, templates: string, variables: Readonly<Record<string, unknown>>): Promise<RolePrompt>;
}

interface Skills extends Pick<Reading, 'read'> {
  readonly config: Pick<SkillRegistryConfig, 'catalog' | 'tools'>;
  snapshot(): Snapshot;
}

export function createRoleResolver(registry: Skills): RoleResolver {
  const cached = new Map<string, { readonly stamp: string; readonly text: Promise<string | undefined> }>();
  /** @param stamp - The text is made again when this changes. */
  const once = (key: string, stamp: string, make: () => Promise<string | undefined>): Promise<string | undefined> => {
    const before = cached.get(key);
    if (before?.stamp === stamp) return before.text;
    if (cached.size >= MAX_CACHED) cached.clear();
    const text = make();
    cached.set(key, { stamp, text });
    // A failed text is made again.
    text.catch(() => cached.delete(key));
    return text;
  };
  return {
    async resolve(role, templates, variables) {
      if (!ROLE.test(role)) {
        throw invalidArgument(
          `A role is a name of letters, digits, - and _, got ${JSON.stringify(role.slice(0, 80))}.`,
        );
      }
      const snapshot = registry.snapshot();
      const skill = skillOf(role, snapshot);
      if (skill && heldOrDisabled({}, skill) === undefined) {
        const read = await registry.read(skill.id, { audience: 'binding' });
        const makeIndex = () => skillIndex(snapshot, registry.config, skill.id);
        const index = await once(JSON.stringify([skill.id]), `${snapshot.version}`, makeIndex);
        const body = withNote({ text: read.content, leftOut: read.hiddenLeftOut ?? 0 });
        return { source: 'skill', text: `${index}\n${body}` };
      }
      // File stats show an edit at once.
      const stamp = stampOf(join(templates, role, 'system_prompt.md'));
      const make = () => templateOf(role, templates, variables);
      const text = await once(JSON.stringify([role, templates, variables]), stamp, make);
      if (text === undefined) return { source: 'fallback', text: `You are a ${role} specialist.` };
      return { source: 'legacy', text };
    },
  };
}

/** A line for each skill that a model may load, by name, within the catalog's budget; `highlight` first, with `* `. */
export async function skillIndex(
  snapshot: Snapshot,
  { catalog, tools }: Pick<SkillRegistryConfig, 'catalog' | 'tools'>,
  highlight?: string,
): Promise<string> {
  const visible = new Set(visibleSkills(snapshot, {}, new Set()));
  const shown = snapshot.skills.filter((skill) => skill.id === highlight || visible.has(skill));
  const sorted = [...shown].sort((a, b) => rank(a.id, highlight) - rank(b.id, highlight) || (a.id < b.id ? -1 : 1));
  const first = sorted.slice(0, sorted[0]?.id === highlight ? 1 : 0);
  const mark = ({ id }: Skill): string => (id === highlight ? '*' : '-');
  const text = await catalogText(sorted, {
    budgetTokens: catalog.budget_tokens,
    rank: () => first,
    pinned: first.length,
    pending: pendingSkills(snapshot, {}, new Set()).length,
    tools: namedTools(tools),
    format: {
      header: 'Skills:',
      entry: (skill, max = Number.POSITIVE_INFINITY) =>
        `${mark(skill)} ${skill.id}: ${shorten(foldLine(skill.description), max)}`,
      name: (skill) => `${mark(skill)} ${skill.id}`,
      footer: () => undefined,
    },
  });
  return text === null ? '' : `${text}\n`;
}

// --- internal ---

async function templateOf(
  role: string,
  templates: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const template = readTemplate(templates, role);
  return template === undefined ? undefined : withNote(withoutHidden(await render(template, variables)));
}

function skillOf(role: string, { byId }: Snapshot): Skill | undefined {
  return byId.get(role) ?? byId.get(slugOf(role));
}

function stampOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats ? `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}` : 'none';
}

function rank(id: string, highlight: string | undefined): number {
  return id === highlight ? 0 : 1;
}

function readTemplate(templates: string, role: string): string | undefined {
  try {
    return readContained(templates, `${role}/system_prompt.md`, MAX_TEMPLATE_BYTES).toString('utf8');
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_NOT_FOUND')) return undefined;
    throw error;
  }
}

async function render(template: string, variables: Readonly<Record<string, unknown>>): Promise<string> {
  try {
    return await renderTemplate(template, variables, false);
  } catch (error) {
    throw invalidArgument(`The role's template does not render: ${describeError(error)}`);
  }
}
