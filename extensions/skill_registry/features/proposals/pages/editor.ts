import type { CodedError } from 'skill-registry/kernel';
import { hiddenField } from '../../../../../lib/forms/index.ts';
import { address, type Html, html, plural, verbatim } from '../../../../../lib/html/index.ts';
import { findHiddenText, hiddenCharacters } from '../../../../../lib/text/index.ts';
import { note } from '../../../../../lib/widgets/index.ts';
import type { ReviewRequest } from '../../../core/review.ts';
import type { Proposal, ProposedText } from '../propose/types.ts';

export function editorMain(
  { form }: ReviewRequest,
  { id, skillId, state }: Proposal,
  { path, content: proposed, version }: ProposedText,
  { refused, content }: { readonly refused?: CodedError | undefined; readonly content?: string | undefined },
): Html {
  const head = html`<h1>Edit what is proposed for ${skillId}/${path}</h1>`;
  const back = html`<a href="${address('proposals', id)}">Back to the proposal</a>`;
  const why = whyNotHere(proposed);
  if (why !== undefined)
    return html`${head}<p>${why}</p><pre tabindex="0">skill-registry proposals edit ${id}</pre><p>${back}</p>`;
  const text = content ?? proposed;
  const stale =
    state === 'stale'
      ? note(
          html`<p>The file has changed in the same lines. Both texts are below, between lines of <code>&lt;&lt;&lt;&lt;&lt;&lt;&lt;</code>, <code>=======</code> and <code>&gt;&gt;&gt;&gt;&gt;&gt;&gt;</code>. Keep what is wanted of both, and remove these lines.</p>`,
          'warn',
        )
      : '';
  return html`${head}
${refused ? note(html`<p>${refused.message}</p><p>What you wrote is below. ${refused.code === 'PROPOSAL_CHANGED' ? html`Saving it now replaces the other text: read that first, on ${back}.` : ''}</p>`, 'block') : ''}
${stale}
${hiddenNote(text)}
${form(
  `${address('proposals', id)}/edit`,
  html`${hiddenField('version', version)}
<label for="content">The whole text of ${path}</label>
<textarea class="code" id="content" name="content" rows="28" spellcheck="false" autocapitalize="off" autocomplete="off">
${verbatim(text)}</textarea>
<div class="actions">
<button class="main" name="next" value="look">Save and look at it</button>
<button name="next" value="approve">Save and approve</button>
${back}
</div>`,
)}`;
}

// --- internal ---

/** A form may need three bytes for one, and browsers become slow with more text. */
const MAX_CHARACTERS = 1_048_576;

/** Undefined when a form can edit the text unchanged. */
function whyNotHere(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return 'This text is too long for a form. Edit it with the command:';
  if (/\r(?!\n)|\0/.test(text)) return 'A form would change characters of this text. Edit it with the command:';
  return undefined;
}

function hiddenNote(text: string): Html | '' {
  const found = [...hiddenCharacters(text)].length;
  if (found === 0) return '';
  const says = findHiddenText(text)?.says ?? '';
  return note(
    html`<p>This text has ${plural(found, 'character')} that cannot be seen here${says === '' ? '' : html`, which say: ${says}`}. The difference on the page of the proposal shows where.</p>`,
    'warn',
  );
}
