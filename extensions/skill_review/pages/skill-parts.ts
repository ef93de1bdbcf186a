import { address, type Html, html } from '../../../lib/html/index.ts';
import { note, tag } from '../../../lib/widgets/index.ts';
import type { SkillTab } from '../../skill_registry/api.ts';
import type { CoreRequest } from '../review.ts';

/** Reads the present bytes; `heldBecause` is about exactly these. @param path - Default: SKILL.md. */
export async function readMarked(
  { id, registry }: CoreRequest,
  path?: string,
): Promise<{ readonly text: Buffer; readonly heldBecause: string | undefined }> {
  let heldBecause: string | undefined;
  const onHeld = (because: string): void => {
    heldBecause = because;
  };
  const bytes = await registry.admin.readBytes(id, {
    countsAsLoad: false,
    onHeld,
    ...(path === undefined ? {} : { path }),
  });
  return { text: Buffer.from(bytes), heldBecause };
}

export function heldMark(heldBecause: string | undefined): Html | '' {
  return heldBecause === undefined ? '' : note(html`<p>Held, no agent is given this text: ${heldBecause}</p>`, 'block');
}

/** The tabs of a skill that exists, or of one that was removed. */
export function tabsOf({ features }: CoreRequest, isThere: boolean): readonly SkillTab[] {
  const tabs = [...FIRST, ...features.flatMap((one) => one.tabs ?? []), LAST];
  return tabs.filter(({ ofRemoved = false }) => isThere || ofRemoved);
}

export function skillHead(request: CoreRequest, at: string): Html {
  const { features, id, skill } = request;
  const tags = [
    ...(skill === undefined ? [tag('removed', 'warn')] : []),
    ...(skill?.heldBecause === undefined ? [] : [tag('held', 'block')]),
    ...(skill?.disabledFor === undefined ? [] : [tag('disabled', 'warn')]),
    ...(skill?.hiddenBecause === undefined ? [] : [tag('hidden from models')]),
  ];
  const parts = features.flatMap((one) => one.parts ?? []);
  const tabs = tabsOf(request, skill !== undefined).map(({ path, text }) => {
    const more = parts.filter(({ page }) => page === `/skills/:id${path}`).flatMap((one) => one.text ?? []);
    return html`<li><a href="${address('skills', id)}${path}"${at === path ? html` aria-current="page"` : ''}>${[text, ...more].join(' and ')}</a></li>`;
  });
  return html`<h1>${skill?.id ?? id} ${tags}</h1>
${skill === undefined ? '' : html`<p>${skill.description.slice(0, 1_024)}</p>`}
<nav class="tabs" aria-label="Parts of this skill"><ul>
${tabs}
</ul></nav>`;
}

// --- internal ---

const FIRST: readonly SkillTab[] = [
  { path: '', text: 'Instructions' },
  { path: '/files', text: 'Files' },
];
const LAST: SkillTab = { path: '/agents', text: 'Agents' };
