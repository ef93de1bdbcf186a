import type { CodedError } from 'skill-registry/kernel';
import type { Finding, InspectedChange, Proposal, SkillRegistry } from '../../skill_registry/api.ts';
import { isRefused, orRefusal, shownDigest } from '../forms.ts';
import { difference, type Remark, viewLink, viewOf } from '../html/difference.ts';
import { ranOnBoth, usageLine } from '../html/evidence.ts';
import { type Html, html, verbatim } from '../html/html.ts';
import {
  findings,
  form,
  formatTime,
  hiddenField,
  idField,
  levelTag,
  note,
  plural,
  proposalAddress,
  refusal,
  skillAddress,
  tag,
} from '../html/parts.ts';
import type { Review, ReviewContext } from '../review.ts';

export interface ActionResult {
  /** A key of `DONE`, from the address. */
  readonly done?: string | undefined;
  readonly refused?: CodedError;
  /** The person gave no reason for a rejection. */
  readonly reasonMissing?: true;
  readonly typed?: { readonly note?: string | undefined; readonly reason?: string | undefined };
}

export async function proposalMain(
  context: ReviewContext,
  { registry }: Review,
  proposal: Proposal,
  answer: ActionResult,
): Promise<Html> {
  const { id, kind, skillId, source, path, state, author, model, created, diff, purged } = proposal;
  const inspected = await registry.admin.blockFindingsAfter({ proposalId: id });
  const { blocks } = inspected;
  const view = viewOf(context.req.query('view'));
  const skill = registry.snapshot().byId.get(skillId);
  const isWaiting = state === 'open' || state === 'stale';
  const ran = isWaiting ? await evidenceParts(registry, proposal) : '';
  const what = { update: `${skillId}/${path}`, create: `New skill ${skillId}`, delete: `Remove ${skillId}` }[kind];
  return html`<h1>${what} ${tag(state, STATE_COLOURS[state])}</h1>
<p class="quiet">Proposed by ${author}${model === null ? '' : ` with ${model}`}, ${formatTime(created)} UTC, for ${skill ? html`<a href="${skillAddress(skillId)}">${skillId}</a>` : skillId} of source ${source}. <code>${id}</code>${isWaiting ? html` <a href="#decide">Decide</a>` : ''}</p>
${actionNote(answer)}
${decided(proposal)}
${!isWaiting && skill?.heldBecause !== undefined ? note(html`<p>${skillId} is held, and no agent is given it: ${skill.heldBecause}. <a href="${skillAddress(skillId)}">See what was found</a></p>`, 'block') : ''}
${proposal.problem ? note(html`<p>${proposal.problem.message}</p>`, 'warn') : ''}
${conflict(proposal)}
${blocks.length > 0 ? note(html`<h2 class="inside">A person would call this an attack</h2><p>Approving the change also allows it, so the id of the skill has to be typed.</p>${findings(blocks)}`, 'block') : ''}
${purged ? html`<p>Its texts were purged by ${purged.by}, ${formatTime(purged.at)}.</p>` : html`${reasons(proposal)}${ran}${found(proposal)}`}
${
  diff === ''
    ? ''
    : html`<div class="heading"><h2>Difference</h2>${viewLink(context.req.path, view)}</div>
${difference(diff, { view, remarks: remarksOf(proposal, blocks), whole: `${proposalAddress(id)}/difference` })}`
}
${isWaiting ? decideForms(context, proposal, inspected, answer) : ''}
${state === 'rejected' && !purged ? purgeForm(context, id) : ''}`;
}

// --- internal ---

const STATE_COLOURS: Readonly<Record<Proposal['state'], string>> = {
  open: '',
  stale: 'warn',
  approved: 'done',
  rejected: 'block',
};

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
  const made =
    revision === null ? '' : html`, as <a href="${skillAddress(skillId)}/history/${revision}">revision ${revision}</a>`;
  return html`<p>${state === 'approved' ? 'Approved' : 'Rejected'} by <b>${decision.by}</b>, ${formatTime(decision.at)} UTC${made}.</p>
${decision.reason === null ? '' : html`<p class="said">${decision.reason}</p>`}`;
}

function conflict({ id, conflict: text, editable }: Proposal): Html | '' {
  if (text === null) return '';
  const next = editable
    ? html`<a href="${proposalAddress(id)}/edit">Edit it</a>: the page for editing has both texts, and you keep what is wanted of both.`
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

async function evidenceParts({ admin, usage }: SkillRegistry, { id, kind, skillId }: Proposal): Promise<Html> {
  const ran = await orRefusal(admin.proposalEvidence(id));
  const report = kind === 'create' ? undefined : await orRefusal(usage.report({ skillId }));
  return html`<h2>Before and after</h2>
${isRefused(ran) ? html`<p class="quiet">Not run: ${ran.refused.message}</p>` : ranOnBoth(ran)}
${report === undefined || isRefused(report) ? '' : usageLine(report, skillId)}`;
}

function found({ checks }: Proposal): Html {
  const [facts, others] = [checks.filter((one) => one.level === 'info'), checks.filter((one) => one.level !== 'info')];
  const item = ({ level: how, text, line }: Proposal['checks'][number]): Html =>
    html`<li>${levelTag(how)} ${text}${line === undefined ? '' : html` <a class="quiet" href="#line-${line}">line ${line}</a>`}</li>`;
  return html`<h2>What an inspection found</h2>
${others.length === 0 ? html`<p>No warnings.</p>` : html`<ul class="findings">${others.map(item)}</ul>`}
${facts.length === 0 ? '' : html`<details><summary>${plural(facts.length, 'fact')}</summary><ul class="findings">${facts.map(item)}</ul></details>`}`;
}

/** For the lines of the diff: findings of level `block`, and checks above `info`. */
function remarksOf({ checks, path }: Proposal, blocks: readonly Finding[]): readonly Remark[] {
  const found = blocks.flatMap(({ level: how, message, line, file }) =>
    line === undefined || file.toLowerCase() !== path.toLowerCase() ? [] : [{ level: how, text: message, line }],
  );
  const lineRemarks = checks.flatMap(({ level: how, text, line }) =>
    line === undefined ? [] : [{ level: how, text, line }],
  );
  return [...found, ...lineRemarks].filter(({ level: how }) => how !== 'info');
}

/** With a finding of level `block`, rejecting comes first and has the coloured button; approving needs the typed id. */
function decideForms(
  context: ReviewContext,
  proposal: Proposal,
  inspected: InspectedChange,
  answer: ActionResult,
): Html {
  const isAttack = inspected.blocks.length > 0;
  const approve = html`<div>${approvePart(context, proposal, inspected, answer)}</div>`;
  const reject = html`<div>${rejectForm(context, proposal, isAttack, answer)}</div>`;
  return html`<h2 id="decide">Decide</h2>
<div class="decide">
${isAttack ? [reject, approve] : [approve, reject]}
</div>`;
}

function approvePart(
  context: ReviewContext,
  { id, kind, state, version, editable, skillId }: Proposal,
  inspected: InspectedChange,
  { typed = {} }: ActionResult,
): Html {
  const edit = editable ? html`<a class="button" href="${proposalAddress(id)}/edit">Edit and approve</a>` : '';
  if (state !== 'open') {
    const reason = html`<p>It cannot be approved${editable ? ' as it is' : ''}.</p>`;
    return html`${reason}${editable ? html`<div class="actions">${edit}</div>` : ''}`;
  }
  const button =
    inspected.blocks.length > 0
      ? html`<button>Approve, and allow what was found</button>`
      : html`<button class="main">Approve</button>`;
  return form(
    context,
    `${proposalAddress(id)}/approve`,
    html`${hiddenField('version', version)}${hiddenField('blocks', shownDigest(inspected))}
${kind === 'delete' ? html`<p>Approving moves <a href="${skillAddress(skillId)}">${skillId}</a> with all its files to the archive, from which it can be restored.</p>` : ''}
${inspected.blocks.length > 0 ? idField('To approve it', skillId) : ''}
<label for="note">A note (optional)</label>
<input id="note" name="reason" maxlength="2000" autocomplete="off" value="${verbatim(typed.note ?? '')}">
<div class="actions">${button}
${edit}</div>`,
  );
}

function rejectForm(
  context: ReviewContext,
  { id, version }: Proposal,
  isMain: boolean,
  { typed = {} }: ActionResult,
): Html {
  return form(
    context,
    `${proposalAddress(id)}/reject`,
    html`${hiddenField('version', version)}
<label for="reason">Why it is rejected</label>
<textarea id="reason" name="reason" rows="3" required maxlength="2000">
${verbatim(typed.reason ?? '')}</textarea>
<div class="actions">${isMain ? html`<button class="main">Reject</button>` : html`<button>Reject</button>`}</div>`,
  );
}

function purgeForm(context: ReviewContext, id: string): Html {
  return html`<details><summary>Purge its texts</summary>
<p>Deletes its difference, its reasons and its report from all stored data. Who rejected it, and when, is kept. This cannot be undone.</p>
${form(context, `${proposalAddress(id)}/purge`, html`<button>Purge</button>`)}
</details>`;
}
