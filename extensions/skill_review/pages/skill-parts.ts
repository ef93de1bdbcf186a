import type { Skill, SkillRegistry, Snapshot } from '../../skill_registry/api.ts';
import { type Html, html } from '../html/html.ts';
import { note, skillAddress, tag } from '../html/parts.ts';

export type SkillTab = 'instructions' | 'files' | 'history' | 'evidence' | 'agents';

/** Accepts an id or a qualified id; undefined when the skill is unknown or removed. */
export function skillOf({ byId, byQualifiedId, builtIn }: Snapshot, id: string): Skill | undefined {
  return byId.get(id) ?? byQualifiedId.get(id) ?? builtIn.get(id);
}

/** Reads the present bytes; `heldBecause` is about exactly these. @param path - Default: SKILL.md. */
export async function readMarked(
  { admin }: Pick<SkillRegistry, 'admin'>,
  id: string,
  path?: string,
): Promise<{ readonly text: Buffer; readonly heldBecause: string | undefined }> {
  let heldBecause: string | undefined;
  const onHeld = (because: string): void => {
    heldBecause = because;
  };
  const bytes = await admin.readBytes(id, { countsAsLoad: false, onHeld, ...(path === undefined ? {} : { path }) });
  return { text: Buffer.from(bytes), heldBecause };
}

export function heldMark(heldBecause: string | undefined): Html | '' {
  return heldBecause === undefined ? '' : note(html`<p>Held, no agent is given this text: ${heldBecause}</p>`, 'block');
}

export function skillHead(id: string, skill: Skill | undefined, at?: SkillTab): Html {
  const entry = (name: SkillTab, below: string, text: string): Html =>
    html`<li><a href="${skillAddress(id)}${below}"${at === name ? html` aria-current="page"` : ''}>${text}</a></li>`;
  const tags = [
    ...(skill === undefined ? [tag('removed', 'warn')] : []),
    ...(skill?.heldBecause === undefined ? [] : [tag('held', 'block')]),
    ...(skill?.disabledFor === undefined ? [] : [tag('disabled', 'warn')]),
    ...(skill?.hiddenBecause === undefined ? [] : [tag('hidden from models')]),
  ];
  return html`<h1>${skill?.id ?? id} ${tags}</h1>
${skill === undefined ? '' : html`<p>${skill.description.slice(0, 1_024)}</p>`}
<nav class="tabs" aria-label="Parts of this skill"><ul>
${skill === undefined ? '' : [entry('instructions', '', 'Instructions'), entry('files', '/files', 'Files')]}
${entry('history', '/history', 'History')}
${skill === undefined ? '' : [entry('evidence', '/evidence', 'Evidence and usage'), entry('agents', '/agents', 'Agents')]}
</ul></nav>`;
}
