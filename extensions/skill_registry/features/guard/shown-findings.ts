import { CodedError } from 'skill-registry/kernel';
import { type Html, html } from '../../../../lib/html/index.ts';
import { levelTag, note } from '../../../../lib/widgets/index.ts';
import type { Finding } from '../../core/skill/guard.ts';
import { countOf } from './by-risk.ts';

export function findings(found: readonly Finding[]): Html {
  const items = found.map(
    ({ rule, level, file, line, message, excerpt }) => html`<li>
${levelTag(level)} <b>${message}</b> <span class="quiet">${file}${line === undefined ? '' : `, line ${line}`} <code>${rule}</code></span>
${excerpt === '' ? '' : html`<pre class="excerpt">${excerpt}</pre>`}
</li>`,
  );
  return html`<ul class="findings">${items}</ul>`;
}

/** @param what - What lets agents have it: `Restoring`. */
export function attackNote(what: string, found: readonly Finding[]): Html | '' {
  if (found.length === 0) return '';
  return note(
    html`<h2 class="inside">This looks like an attack</h2><p>${what} lets agents have it, so the id of the skill has to be typed.</p>${findings(found)}`,
    'block',
  );
}

/** Nobody allows an attack with one click. @param what - For example `To approve it`. */
export function idField(what: string, skillId: string): Html {
  return html`<label for="typed-id">${what}, type the id of the skill: <code>${skillId}</code></label>
<input id="typed-id" name="typed_id" required autocomplete="off" autocapitalize="off" spellcheck="false">`;
}

/**
 * Checked here because a form may arrive without the field that the browser requires.
 * @throws ID_NOT_TYPED for a finding of level `block` when the id of the skill was not typed
 */
export function assertIdTyped(skillId: string, found: readonly Finding[], typed: string | undefined): void {
  if (countOf(found, 'block') > 0 && typed !== skillId.trim()) throw idNotTyped(skillId, typed ?? '');
}

// --- internal ---

function idNotTyped(skillId: string, typed: string): CodedError {
  return new CodedError(
    'ID_NOT_TYPED',
    `This looks like an attack, so the id of the skill has to be typed: expected ${JSON.stringify(skillId)}, and the field had ${JSON.stringify(typed)}.`,
  );
}
