import type { CodedError } from 'skill-registry/kernel';
import { hiddenField, refusal } from '../../../../../lib/forms/index.ts';
import { address, formatTime, type Html, html, type Piece, plural, verbatim } from '../../../../../lib/html/index.ts';
import {
  differenceView,
  factList,
  levelTag,
  note,
  parseDifference,
  type Remark,
  type ShownDifference,
  tag,
} from '../../../../../lib/widgets/index.ts';
import type { ReviewRequest } from '../../../core/review.ts';
import type { Finding } from '../../../core/skill/guard.ts';
import { countOf } from '../../guard/by-risk.ts';
import { isScript } from '../../guard/inspect/inspect-skill.ts';
import { idField } from '../../guard/shown-findings.ts';
import { shownDigest } from '../../history/pages.ts';
import type { InspectedChange } from '../../history/types.ts';
import type { Check } from '../checks/checks.ts';
import { isWaiting, riskiestFirst } from '../propose/describe.ts';
import type { Proposal } from '../propose/types.ts';

export interface ActionResult {
  /** A key of `DONE`, from the address. */
  readonly done?: string | undefined;
  /** The proposal that was decided last. */
  readonly last?: Proposal | false;
  readonly refused?: CodedError;
  /** The person gave no reason for a rejection. */
  readonly reasonMissing?: true;
}

const STATE_COLOURS: Readonly<Record<Proposal['state'], string>> = {
  open: '',
  stale: 'warn',
  approved: 'done',
  rejected: 'block',
};

export function titleOf({ kind, skillId, path }: Proposal): string {
  return { update: `${skillId}/${path}`, create: `New skill ${skillId}`, delete: `Remove ${skillId}` }[kind];
}

/** Without the names of the file: the title has it. */
export function differenceOf({ diff }: Proposal): ShownDifference {
  const read = parseDifference(diff);
  return { ...read, rows: read.rows.filter(({ kind }) => kind !== 'file') };
}

/** State, size, and what a person looks at first. */
export function tagsOf({ checks, diff, path, state }: Proposal): readonly Piece[] {
  const count = (sign: string): number => diff.slice(diff.indexOf('\n@@')).split(`\n${sign}`).length - 1;
  const [blocks, warnings] = [countOf(checks, 'block'), countOf(checks, 'warn')];
  const has = (kind: Check['kind']): boolean => checks.some((check) => check.kind === kind);
  return [
    state !== 'open' && html`${tag(state, STATE_COLOURS[state])} `,
    diff !== '' && html`<span class="size">+${count('+')} −${count('-')}</span> `,
    blocks > 0 && tag('looks like an attack', 'block'),
    warnings > 0 && tag(plural(warnings, 'warning'), 'warn'),
    has('description') && tag('description', 'warn'),
    (has('script') || isScript(path, '')) && tag('script', 'warn'),
  ];
}

export async function proposalMain(request: ReviewRequest, proposal: Proposal, answer: ActionResult): Promise<Html> {
  const { id, kind, skillId, source, state, author, model, created, diff, purged } = proposal;
  const { registry } = request;
  const inspected = await registry.admin.blockFindingsAfter({ proposalId: id });
  const view = differenceView(request.query('view'), request.path);
  const skill = registry.snapshot().byId.get(skillId);
  const waits = isWaiting(proposal);
  const parts = waits ? await request.partsOf('/proposals/:id', kind === 'create' ? undefined : skillId) : [];
  const read = differenceOf(proposal);
  const { above, atLines } = foundIn(proposal, inspected, read);
  const facts = proposal.checks.filter(({ level }) => level === 'info');
  return html`${await actionNote(request, answer)}
<div class="heading"><h1>${titleOf(proposal)} ${tagsOf(proposal)}</h1>${waits ? await neighbours(request, id) : ''}</div>
${decided(proposal)}
${purged ? html`<p>Its texts were purged by ${purged.by}, ${formatTime(purged.at)}.</p>` : reasons(proposal)}
${!waits && skill?.heldBecause !== undefined ? note(html`<p>${skillId} is held, and no agent is given it: ${skill.heldBecause}. <a href="${address('skills', skillId)}">See what was found</a></p>`, 'block') : ''}
${proposal.problem ? note(html`<p>${proposal.problem.message}</p>`, 'warn') : ''}
${conflict(proposal)}
${waits ? above : ''}
${kind === 'delete' && waits ? html`<p>Approving moves <a href="${address('skills', skillId)}">${skillId}</a> with all its files to the archive, from which it can be restored.</p>` : ''}
${diff === '' ? '' : [view.heading('Difference'), view.show(read, address('proposals', id, 'difference'), atLines)]}
${parts}
<details><summary>About this proposal</summary>
${factList([
  ['Proposed by', `${author}${model === null ? '' : ` with ${model}`}`],
  ['When', html`${formatTime(created)} UTC`],
  ['Skill', skill ? html`<a href="${address('skills', skillId)}">${skillId}</a>` : skillId],
  ['Source', source],
  ['Id', html`<code>${id}</code>`],
  ['Also seen', facts.length === 0 ? '' : html`<ul>${facts.map(({ text }) => html`<li>${text}</li>`)}</ul>`],
])}</details>
${waits ? decideForms(request, proposal, inspected) : ''}
${state === 'rejected' && !purged ? purgeForm(request, id) : ''}`;
}

// --- internal ---

/** A key of `done` in the address. */
const DONE: ReadonlyMap<string, string> = new Map([
  ['approved', 'Approved, and in effect.'],
  ['merged', 'Approved, merged with later changes, and in effect.'],
  ['rejected', 'Rejected. Its author is shown the reason.'],
  ['edited', 'Saved. This is the difference with your text; approve it or go on editing.'],
  ['look', 'Saved, and not approved yet: an inspection found something in your text. Look at it first.'],
  ['again', 'Proposed again, by you.'],
  ['purged', 'Purged. Its texts are deleted from all stored data.'],
]);

async function actionNote(
  request: ReviewRequest,
  { done, last, refused, reasonMissing }: ActionResult,
): Promise<Html | ''> {
  if (refused) return refusal(refused, 'decided');
  if (reasonMissing) return refusal({ message: 'Say why it is rejected: its author is shown the reason.' }, 'decided');
  const text = DONE.get(done ?? '');
  if (text === undefined || (last && (last.state === 'rejected') !== (done === 'rejected'))) return '';
  if (!last) return note(html`<p>${text}</p>`, done === 'look' ? 'warn' : 'done');
  const isHere = last.id === request.id;
  const title = isHere ? '' : html`<a href="${address('proposals', last.id)}">${titleOf(last)}</a>: `;
  return html`<div class="note done undo" role="status"><p>${title}${text} ${isHere ? html`<a href="/">Back to the inbox</a>` : ''}</p>
${await undo(request, last)}</div>`;
}

/** Leads back what was decided last: nothing that came after it is touched. */
async function undo(
  { form, registry }: ReviewRequest,
  { id, kind, purged, revision, skillId, state }: Proposal,
): Promise<Html | ''> {
  const button = html`<button class="small">Undo</button>`;
  const fields = html`${hiddenField('present', String(revision))}${hiddenField('blocks', '')}${button}`;
  if (state === 'rejected') return purged ? '' : form(`${address('proposals', id)}/again`, button);
  if (kind === 'create')
    return html`<a class="button small" href="${address('skills', skillId)}">Look at it, or remove it</a>`;
  if (kind === 'delete') {
    const inspected = await registry.admin.blockFindingsAfter({ restoredId: skillId }).catch(() => undefined);
    if (inspected?.blocks.length === 0) return form(address('skills', skillId, 'restore'), fields);
    return html`<a class="button small" href="${address('skills', skillId, 'history')}">Look at it, or restore it</a>`;
  }
  return revision !== null && revision > 1 ? form(address('skills', skillId, 'rollback', revision - 1), fields) : '';
}

async function neighbours({ registry }: ReviewRequest, id: string): Promise<Html | ''> {
  const all = riskiestFirst(await registry.proposals.list());
  const at = all.findIndex((one) => one.id === id);
  const to = (one: Proposal | undefined, rel: string, text: string): Html | '' =>
    one ? html` <a class="button small" rel="${rel}" href="${address('proposals', one.id)}">${text}</a>` : '';
  return html`<nav class="quiet" aria-label="Proposals"><span data-keys hidden>Keys: j k, a r, Enter.</span> ${at + 1} of ${all.length}${to(all[at - 1], 'prev', 'Previous')}${to(all[at + 1], 'next', 'Next')}</nav>`;
}

function decided({ decision, revision, skillId, state }: Proposal): Html | '' {
  if (decision === null) return '';
  const to = address('skills', skillId, 'history', String(revision));
  const made = revision === null ? '' : html`, as <a href="${to}">revision ${revision}</a>`;
  return html`<p>${state === 'approved' ? 'Approved' : 'Rejected'} by <b>${decision.by}</b>, ${formatTime(decision.at)} UTC${made}.</p>
${decision.reason === null ? '' : html`<p class="said">${decision.reason}</p>`}`;
}

function conflict({ id, conflict: text, editable }: Proposal): Html | '' {
  if (text === null) return '';
  const next = editable
    ? html`<a href="${address('proposals', id, 'edit')}">Edit it</a>: the page for editing has both texts, and you keep what is wanted of both.`
    : html`It cannot be edited to apply again, either. Reject it; if the change is still wanted, it is proposed anew.`;
  return note(
    html`<h2 class="inside">It does not apply any more</h2><pre class="wrapped">${text}</pre>
<p>${next}</p>`,
    'warn',
  );
}

/** One line, which opens. */
function reasons({ author, justification, evidence, recommendations }: Proposal): Html {
  const isCut = justification.length > MAX_WHY || justification.trim().includes('\n');
  const more = html`${isCut ? html`<p class="said">${justification}</p>` : ''}
${evidence === null ? '' : html`<h2>What its author claims</h2><p class="said">${evidence}</p>`}
${recommendations.map(({ by, verdict, reason, at }) => html`<p>${by} recommends to ${verdict} it, ${formatTime(at)}:</p><p class="said">${reason}</p>`)}`;
  const why = html`<b>Why</b> <span class="quiet">${author}:</span> ${justification.slice(0, MAX_WHY)}`;
  if (!isCut && evidence === null && recommendations.length === 0) return html`<p class="why">${why}</p>`;
  return html`<details class="why"><summary>${why}</summary>${more}</details>`;
}

const MAX_WHY = 240;
/** At its line, an excerpt of a rule says nothing more: it may join words of several lines. */
const OF_RULES: ReadonlySet<Check['kind']> = new Set(['instructions', 'secrets', 'rules']);

/** Each finding above `info` once: at its line where the difference shows that, else above with the number of all. */
function foundIn(
  { checks, path }: Proposal,
  { blocks, reaches = '' }: InspectedChange,
  { rows }: ShownDifference,
): { readonly above: Html; readonly atLines: readonly Remark[] } {
  const shown = new Set(rows.map(({ next }) => next));
  const isHere = ({ file }: Finding): boolean => file.toLowerCase() === path.toLowerCase();
  const others = checks.filter(({ level }) => level !== 'info');
  const isSaid = ({ level, line, text }: Check): boolean =>
    blocks.some((one) => isHere(one) && one.level === level && one.line === line && text.startsWith(one.message));
  const all = [
    ...blocks.map(({ level, message, file, line }) => ({ level, text: message, line, file })),
    ...others.flatMap(({ kind, ...one }) =>
      isSaid({ kind, ...one })
        ? []
        : { ...one, text: OF_RULES.has(kind) ? one.text.replace(/: ".*"$/, '') : one.text, line: one.line, file: path },
    ),
  ];
  const isAtLine = ({ file, line }: (typeof all)[number]): boolean =>
    line !== undefined && shown.has(line) && file.toLowerCase() === path.toLowerCase();
  const atLines = all.filter(isAtLine).map(({ level, text, line = 0 }) => ({ level, text, line }));
  const lines = [...new Set(atLines.map(({ line }) => line))].sort((one, other) => one - other);
  const rest = all.filter((one) => !isAtLine(one));
  const reached = reaches === '' ? '' : html` New for this skill: ${reaches}.`;
  if (all.length === 0) return { above: html`<p class="quiet">Nothing was found in it.${reached}</p>`, atLines };
  const [attacks, warnings] = [countOf(all, 'block'), countOf(all, 'warn')];
  const found =
    attacks > 0
      ? html`<b>This looks like an attack:</b> ${plural(attacks, 'finding')}${warnings > 0 && `, and ${plural(warnings, 'warning')}`}`
      : plural(warnings, 'warning');
  const links = lines.map((line, at) => html`${at > 0 ? ', ' : ''}<a href="#line-${line}">line ${line}</a>`);
  const above = html`<p>${found}${links.length > 0 && html` (${links})`}.${reached}</p>
${rest.length === 0 ? '' : html`<ul class="findings">${rest.map(({ level, text, line, file }) => html`<li tabindex="-1" data-finding>${levelTag(level)} ${text}${line === undefined ? '' : html` <span class="quiet">${file}, line ${line}</span>`}</li>`)}</ul>`}`;
  return { above: note(above, attacks > 0 ? 'block' : 'warn'), atLines };
}

/** With a finding of level `block`, rejecting comes first and has the coloured button; approving needs the typed id. */
function decideForms(request: ReviewRequest, proposal: Proposal, inspected: InspectedChange): Html {
  const isAttack = inspected.blocks.length > 0;
  const approve = html`<div>${approvePart(request, proposal, inspected)}</div>`;
  const reject = html`<div>${rejectForm(request, proposal, isAttack)}</div>`;
  return html`<section class="decide" aria-label="Decide">
${isAttack ? [reject, approve] : [approve, reject]}
</section>`;
}

function approvePart(
  request: ReviewRequest,
  { id, state, version, editable, skillId }: Proposal,
  inspected: InspectedChange,
): Html {
  const isAttack = inspected.blocks.length > 0;
  const edit = editable
    ? html`<a class="button"${state === 'open' ? '' : html` data-key="a"`} href="${address('proposals', id, 'edit')}">Edit</a>`
    : '';
  if (state !== 'open' && !editable) return html`<p>It cannot be approved.</p>`;
  if (state !== 'open') return html`<div class="actions">It cannot be approved as it is. ${edit}</div>`;
  const form = request.form(
    address('proposals', id, 'approve'),
    html`${hiddenField('version', version)}${hiddenField('blocks', shownDigest(inspected))}
${isAttack ? idField('To approve it', skillId) : ''}
<div class="actions"><label class="unseen" for="note">A note (optional)</label>
<input id="note" name="reason" maxlength="2000" autocomplete="off" placeholder="A note" value="${typed(request, 'approve')}">
<button${isAttack ? html`>Approve, and allow what was found` : html` data-key="a" class="main">Approve`}</button>
${edit}</div>`,
  );
  if (!isAttack) return form;
  const isOpen = request.path.endsWith('/approve');
  return html`<details${isOpen ? html` open` : ''}><summary data-key="a">Approve it all the same</summary>${form}</details>`;
}

function rejectForm(request: ReviewRequest, { id, version }: Proposal, isMain: boolean): Html {
  return request.form(
    address('proposals', id, 'reject'),
    html`${hiddenField('version', version)}
<div class="actions"><label class="unseen" for="reason">Why it is rejected</label>
<input id="reason" name="reason" required maxlength="2000" autocomplete="off" placeholder="Why it is rejected" value="${typed(request, 'reject', isMain ? 'It looks like an attack.' : '')}">
<button data-key="r"${isMain ? html` class="main"` : ''}>Reject</button></div>`,
  );
}

/** What a person wrote, when that was refused. */
function typed({ optional, path }: ReviewRequest, form: 'approve' | 'reject', otherwise = ''): Html {
  return verbatim(path.endsWith(`/${form}`) ? (optional('reason') ?? '') : otherwise);
}

function purgeForm({ form }: ReviewRequest, id: string): Html {
  return html`<details><summary>Purge its texts</summary>
<p>Deletes its difference, its reasons and its report from all stored data. Who rejected it, and when, is kept. This cannot be undone.</p>
${form(address('proposals', id, 'purge'), html`<button>Purge</button>`)}
</details>`;
}
