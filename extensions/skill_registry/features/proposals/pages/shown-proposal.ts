import type { CodedError } from 'skill-registry/kernel';
import { hiddenField, refusal } from '../../../../../lib/forms/index.ts';
import { address, formatTime, type Html, html, verbatim } from '../../../../../lib/html/index.ts';
import { differenceView, levelTag, note, type Remark, tag } from '../../../../../lib/widgets/index.ts';
import type { ReviewRequest } from '../../../core/review.ts';
import type { Finding } from '../../../core/skill/guard.ts';
import { attackNote, idField } from '../../guard/shown-findings.ts';
import { shownDigest } from '../../history/pages.ts';
import type { InspectedChange } from '../../history/types.ts';
import type { Proposal } from '../propose/types.ts';

export interface ActionResult {
  /** A key of `DONE`, from the address. */
  readonly done?: string | undefined;
  readonly refused?: CodedError;
  /** The person gave no reason for a rejection. */
  readonly reasonMissing?: true;
}

export const STATE_COLOURS: Readonly<Record<Proposal['state'], string>> = {
  open: '',
  stale: 'warn',
  approved: 'done',
  rejected: 'block',
};

export function titleOf({ kind, skillId, path }: Proposal): string {
  return { update: `${skillId}/${path}`, create: `New skill ${skillId}`, delete: `Remove ${skillId}` }[kind];
}

export async function proposalMain(request: ReviewRequest, proposal: Proposal, answer: ActionResult): Promise<Html> {
  const { id, kind, skillId, source, state, author, model, created, diff, purged } = proposal;
  const { registry } = request;
  const inspected = await registry.admin.blockFindingsAfter({ proposalId: id });
  const { blocks, reaches } = inspected;
  const view = differenceView(request.query('view'), request.path);
  const skill = registry.snapshot().byId.get(skillId);
  const isWaiting = state === 'open' || state === 'stale';
  const parts = isWaiting ? await request.partsOf('/proposals/:id', kind === 'create' ? undefined : skillId) : [];
  const ran = isWaiting && html`<h2>Before and after</h2>${parts}`;
  return html`<h1>${titleOf(proposal)} ${tag(state, STATE_COLOURS[state])}</h1>
<p class="quiet">Proposed by ${author}${model === null ? '' : ` with ${model}`}, ${formatTime(created)} UTC, for ${skill ? html`<a href="${address('skills', skillId)}">${skillId}</a>` : skillId} of source ${source}. <code>${id}</code>${isWaiting ? html` <a href="#decide">Decide</a>` : ''}</p>
${actionNote(answer)}
${decided(proposal)}
${!isWaiting && skill?.heldBecause !== undefined ? note(html`<p>${skillId} is held, and no agent is given it: ${skill.heldBecause}. <a href="${address('skills', skillId)}">See what was found</a></p>`, 'block') : ''}
${proposal.problem ? note(html`<p>${proposal.problem.message}</p>`, 'warn') : ''}
${conflict(proposal)}
${attackNote('Approving the change', blocks)}
${purged ? html`<p>Its texts were purged by ${purged.by}, ${formatTime(purged.at)}.</p>` : html`${reasons(proposal)}${ran}${found(proposal)}`}
${reaches && html`<p>${reaches}</p>`}
${diff === '' ? '' : [view.heading('Difference'), view.show(diff, address('proposals', id, 'difference'), remarksOf(proposal, blocks))]}
${isWaiting ? decideForms(request, proposal, inspected) : ''}
${state === 'rejected' && !purged ? purgeForm(request, id) : ''}`;
}

// --- internal ---

const DONE: ReadonlyMap<string, string> = new Map([
  ['approved', 'Approved, and in effect.'],
  ['merged', 'Approved, merged with later changes, and in effect.'],
  ['rejected', 'Rejected. Its author is shown the reason.'],
  ['edited', 'Saved. This is the difference with your text; approve it or go on editing.'],
  ['look', 'Saved, and not approved yet: an inspection found something in your text. Look at it first.'],
  ['purged', 'Purged. Its texts are deleted from all stored data.'],
]);

const IS_OVER: ReadonlySet<string> = new Set(['approved', 'merged', 'rejected', 'purged']);

function actionNote({ done, refused, reasonMissing }: ActionResult): Html | '' {
  if (refused) return refusal(refused, 'decided');
  if (reasonMissing) return refusal({ message: 'Say why it is rejected: its author is shown the reason.' }, 'decided');
  const text = DONE.get(done ?? '');
  if (text === undefined) return '';
  const next = IS_OVER.has(done ?? '') ? html` <a href="/">Back to the inbox</a>` : '';
  return note(html`<p>${text}${next}</p>`, done === 'look' ? 'warn' : 'done');
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

function reasons({ justification, evidence, recommendations }: Proposal): Html {
  return html`<h2>Why</h2>
<p class="said">${justification}</p>
${evidence === null ? '' : html`<h2>What its author claims</h2><p class="said">${evidence}</p>`}
${recommendations.map(({ by, verdict, reason, at }) => html`<p>${by} recommends to ${verdict} it, ${formatTime(at)}:</p><p class="said">${reason}</p>`)}`;
}

function found({ checks }: Proposal): Html {
  const [facts, others] = [checks.filter((one) => one.level === 'info'), checks.filter((one) => one.level !== 'info')];
  const item = ({ level: how, text, line }: Proposal['checks'][number]): Html =>
    html`<li>${levelTag(how)} ${text}${line === undefined ? '' : html` <a class="quiet" href="#line-${line}">line ${line}</a>`}</li>`;
  return html`<h2>What an inspection found</h2>
${others.length === 0 ? html`<p>No warnings.</p>` : html`<ul class="findings">${others.map(item)}</ul>`}
${facts.length === 0 ? '' : html`<details><summary>What else was seen (${facts.length})</summary><ul class="findings">${facts.map(item)}</ul></details>`}`;
}

/** For the lines of the diff: findings of level `block`, and checks above `info`. */
function remarksOf({ checks, path }: Proposal, blocks: readonly Finding[]): readonly Remark[] {
  const inFile = blocks.filter(({ file }) => file.toLowerCase() === path.toLowerCase());
  const found = inFile.flatMap(({ level, message: text, line }) => (line === undefined ? [] : [{ level, text, line }]));
  const others = checks.flatMap(({ level, text, line }) => (line === undefined ? [] : [{ level, text, line }]));
  return [...found, ...others].filter(({ level }) => level !== 'info');
}

/** With a finding of level `block`, rejecting comes first and has the coloured button; approving needs the typed id. */
function decideForms(request: ReviewRequest, proposal: Proposal, inspected: InspectedChange): Html {
  const isAttack = inspected.blocks.length > 0;
  const approve = html`<div>${approvePart(request, proposal, inspected)}</div>`;
  const reject = html`<div>${rejectForm(request, proposal, isAttack)}</div>`;
  return html`<h2 id="decide">Decide</h2>
<div class="decide">
${isAttack ? [reject, approve] : [approve, reject]}
</div>`;
}

function approvePart(
  request: ReviewRequest,
  { id, kind, state, version, editable, skillId }: Proposal,
  inspected: InspectedChange,
): Html {
  const isAttack = inspected.blocks.length > 0;
  const edit = editable ? html`<a class="button" href="${address('proposals', id, 'edit')}">Edit and approve</a>` : '';
  if (state !== 'open' && !editable) return html`<p>It cannot be approved.</p>`;
  if (state !== 'open') return html`<p>It cannot be approved as it is.</p><div class="actions">${edit}</div>`;
  return request.form(
    address('proposals', id, 'approve'),
    html`${hiddenField('version', version)}${hiddenField('blocks', shownDigest(inspected))}
${kind === 'delete' ? html`<p>Approving moves <a href="${address('skills', skillId)}">${skillId}</a> with all its files to the archive, from which it can be restored.</p>` : ''}
${isAttack ? idField('To approve it', skillId) : ''}
<label for="note">A note (optional)</label>
<input id="note" name="reason" maxlength="2000" autocomplete="off" value="${typed(request, 'approve')}">
<div class="actions">${isAttack ? html`<button>Approve, and allow what was found</button>` : html`<button class="main">Approve</button>`}
${edit}</div>`,
  );
}

function rejectForm(request: ReviewRequest, { id, version }: Proposal, isMain: boolean): Html {
  return request.form(
    address('proposals', id, 'reject'),
    html`${hiddenField('version', version)}
<label for="reason">Why it is rejected</label>
<textarea id="reason" name="reason" rows="3" required maxlength="2000">
${typed(request, 'reject')}</textarea>
<div class="actions"><button${isMain ? html` class="main"` : ''}>Reject</button></div>`,
  );
}

/** What a person wrote, when that was refused. */
function typed({ optional, path }: ReviewRequest, form: 'approve' | 'reject'): Html {
  return verbatim(path.endsWith(`/${form}`) ? (optional('reason') ?? '') : '');
}

function purgeForm(request: ReviewRequest, id: string): Html {
  return html`<details><summary>Purge its texts</summary>
<p>Deletes its difference, its reasons and its report from all stored data. Who rejected it, and when, is kept. This cannot be undone.</p>
${request.form(address('proposals', id, 'purge'), html`<button>Purge</button>`)}
</details>`;
}
