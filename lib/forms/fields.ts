import { type Html, html, verbatim } from '../html/index.ts';
import { note } from '../widgets/index.ts';

/** The form sends the value back unchanged. */
export function hiddenField(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${verbatim(value)}">`;
}

/** @param id - Unique on the page. */
export function reasonField(id = 'reason', label = 'Reason, for people who ask later'): Html {
  return html`<label for="${id}">${label}</label><input id="${id}" name="reason" maxlength="2000" autocomplete="off">`;
}

/** A reason and one button. @param id - Unique on the page, as `about`, which names the field of the reason. */
export function decideForm(button: string, id: string, about: string): Html {
  return html`${reasonField(`why-${id}`, `Why, about ${about}`)}
<div class="actions"><button>${button}</button></div>`;
}

/** @param what - What did not happen: `changed`. */
export function refusal(refused: { readonly message: string } | undefined, what: string): Html | '' {
  return refused ? note(html`<p><b>Nothing was ${what}.</b> ${refused.message}</p>`, 'block') : '';
}
