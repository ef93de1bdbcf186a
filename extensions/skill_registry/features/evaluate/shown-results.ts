import { formatNumber, formatTime, type Html, html, plural } from '../../../../lib/html/index.ts';
import { note, tag } from '../../../../lib/widgets/index.ts';
import { countsOf } from './describe.ts';
import type { EvaluationResult, ProposalEvidence, SkillEvidence } from './types.ts';

export function ranOnBoth({ before, after, notRun, changes, takenOver }: ProposalEvidence): Html {
  const isWarning = takenOver !== null && (takenOver.claimsAll || takenOver.skills.length > 0);
  const others = takenOver && html`<p>${takenOver.text}</p>`;
  const notes = html`${isWarning ? note(others, 'warn') : others}${notRun && html`<p class="quiet">Not run: ${notRun}</p>`}`;
  if (!after) return notes;
  const ran = Object.entries(ROWS).flatMap(([name, of]) => {
    const [then, now] = [before ? of(before) : '', of(after)];
    return then === now || now === '' ? [] : [`${name} ${then === '' ? '' : `${then} → `}${now}`];
  });
  const failed = failures(after);
  const summary = `Run by the registry: ${ran.length === 0 ? 'nothing differs' : ran.join(', ')}`;
  if (failed === '' && changes.length === 0) return html`${notes}<p>${summary}</p>`;
  return html`${notes}<details${failed === '' ? '' : html` open`}><summary>${summary}</summary>
${failed}
${changes.length === 0 ? '' : html`<p>Queries that find another skill than before:</p><ul>${changes.map(({ query, shouldTrigger, before: then, after: now }) => html`<li>“${query}”, which should${shouldTrigger ? '' : ' not'} find it: ${then ?? 'nothing'} → ${now ?? 'nothing'}</li>`)}</ul>`}
</details>`;
}

export function resultPart(result: EvaluationResult): Html {
  const { totals, validity, tokens, triggers, at } = result;
  return html`<dl class="facts"><dt>Run</dt><dd>${formatTime(at)} UTC</dd><dt>Checks</dt><dd>${countsOf(totals)}</dd>
<dt>Validity</dt><dd>${validityOf(validity)}, by the profile ${validity.profile}</dd>
<dt>Tokens</dt><dd>${tokens.l1 === null ? '' : `${formatNumber(tokens.l1)} in its line, `}${formatNumber(tokens.l2)} in its body</dd>
${triggers ? html`<dt>Search</dt><dd>precision ${share(triggers.precision)}, recall ${share(triggers.recall)}, of ${triggers.queries.length === 1 ? '1 query' : `${formatNumber(triggers.queries.length)} queries`}</dd>` : ''}</dl>
${failures(result)}`;
}

export function claimsPart(claims: SkillEvidence['claims']): Html | '' {
  if (claims.length === 0) return '';
  const items = claims.map(({ by, at, about, text, summary, kind }) => {
    const result = summary && `: ${summary.passed} of ${summary.total} passed`;
    return html`<p class="quiet">${tag('claim')} ${by}, of ${kind === 'grading' ? 'case ' : ''}${about}, ${formatTime(at)}${result}</p>
<p class="said">${text}</p>`;
  });
  return html`<h2>What others claim</h2><p class="quiet">The registry has not checked these claims.</p>${items}`;
}

// --- internal ---

const MAX_LISTED = 20;

/** Empty where nothing was measured. */
const ROWS: Readonly<Record<string, (of: EvaluationResult) => string>> = {
  checks: ({ totals }) => countsOf(totals),
  validity: ({ validity }) => validityOf(validity),
  'tokens in its line': ({ tokens }) => (tokens.l1 === null ? '' : formatNumber(tokens.l1)),
  'tokens in its body': ({ tokens }) => formatNumber(tokens.l2),
  precision: ({ triggers }) => (triggers ? share(triggers.precision) : ''),
  recall: ({ triggers }) => (triggers ? share(triggers.recall) : ''),
};

function validityOf({ errors }: EvaluationResult['validity']): string {
  return errors.length === 0 ? 'valid' : plural(errors.length, 'error');
}

function share(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : `${Math.round(value * 100)} %`;
}

function failures({ validity, triggers, cases, problems, skillId }: EvaluationResult): Html | '' {
  const queries = (triggers?.queries ?? []).filter(({ passed }) => !passed);
  const failed = [
    ...validity.errors,
    ...queries.map(
      ({ query, shouldTrigger, found }) =>
        `“${query}” should${shouldTrigger ? '' : ' not'} find ${skillId}, and finds ${found ?? 'nothing'}`,
    ),
    ...cases.flatMap(({ id, assertions }) =>
      assertions.flatMap(({ passed, evidence }) => (passed ? [] : [`Case ${id}: ${evidence}`])),
    ),
    ...problems.map(({ message }) => message),
  ];
  if (failed.length === 0) return '';
  const more = failed.length - MAX_LISTED;
  return html`<ul class="findings">${failed.slice(0, MAX_LISTED).map((text) => html`<li>${tag('failed', 'warn')} ${text.slice(0, 500)}</li>`)}
${more > 0 ? html`<li class="quiet">and ${more} more</li>` : ''}</ul>`;
}
