import { CodedError, isCodedError } from '../errors/index.ts';
import { type Html, html, type Piece, verbatim } from '../html/index.ts';
import { note } from '../widgets/index.ts';

export { invalidArgument } from '../errors/index.ts';

export interface Page {
  /** Without the name of the product. */
  readonly title: string;
  /** Address of the selected entry of the navigation. */
  readonly at?: string;
  readonly main: Piece;
  /** `refresh` reads the `data-live` parts again after a change; `notice` (default, for forms) offers to reload. */
  readonly live?: 'refresh' | 'notice';
  /** Default: 200. */
  readonly status?: 200 | 400 | 409;
}

/** To a request. A redirect after a form is a GET. */
export type Answer = Page | { readonly text: string } | { readonly redirect: string };

/** What a page can say is `refused`; any other failure is thrown. */
export async function orRefusal<T>(
  work: Promise<T>,
): Promise<{ readonly value: T; readonly refused?: never } | { readonly refused: CodedError; readonly value?: never }> {
  try {
    return { value: await work };
  } catch (error) {
    if (isCodedError(error) && !error.code.endsWith('_NOT_FOUND')) return { refused: error };
    throw error;
  }
}

export function pageNotFound(): CodedError {
  return new CodedError('PAGE_NOT_FOUND', 'There is no such page.');
}

export function shownChanged(what: string): CodedError {
  return new CodedError(
    'SHOWN_CHANGED',
    `${what} has changed since this page was shown. Nothing was done: look again.`,
  );
}

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
