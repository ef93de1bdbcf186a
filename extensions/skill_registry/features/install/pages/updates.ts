import { randomBytes } from 'node:crypto';
import {
  hiddenField,
  orRefusal,
  type Page,
  pageNotFound,
  refusal,
  shownChanged,
} from '../../../../../lib/forms/index.ts';
import { address, formatTime, type Html, html, type Piece, plural } from '../../../../../lib/html/index.ts';
import { showHidden } from '../../../../../lib/text/index.ts';
import { differenceView, levelTag, note, tag } from '../../../../../lib/widgets/index.ts';
import type { ReviewPages, ReviewRequest } from '../../../core/review.ts';
import { countOf } from '../../guard/by-risk.ts';
import { findings } from '../../guard/shown-findings.ts';
import type { ChangedSkill, SkillUpdate, UpdatePlan } from '../types.ts';

interface Checked {
  readonly plan: UpdatePlan;
  readonly at: string;
  /** Sent by the form, so that only the shown changes are applied. */
  readonly key: string;
}

/** Uses no network before the person presses a button. */
export function updatePages(): Required<Pick<ReviewPages, 'get' | 'post' | 'inbox'>> {
  let last: Checked | undefined;
  return {
    get: {
      '/updates': (request) => show(request, last),
      '/updates/difference'({ query }) {
        const found = last?.plan.skills.find(({ id }) => id === query('id'));
        if (!found) throw pageNotFound();
        return { text: showHidden(found.diff) };
      },
    },
    post: {
      async '/updates/check'(request) {
        const id = request.optional('id');
        const { refused, value: plan } = await orRefusal(
          request.registry.origin.update(id === undefined ? undefined : [id]),
        );
        if (refused) return show(request, last, refusal(refused, 'changed'), 409);
        last = { plan, at: new Date().toISOString(), key: randomBytes(12).toString('base64url') };
        await request.changed();
        return { redirect: '/updates' };
      },
      async '/updates/apply'(request) {
        const checked = last;
        if (checked?.key !== request.field('key'))
          return show(request, last, refusal(shownChanged('What was found'), 'changed'), 409);
        last = undefined;
        const { refused, value: done } = await orRefusal(checked.plan.apply(request.actor));
        await request.changed();
        if (!refused) return show(request, undefined, doneNote(done));
        const { code, details, message } = refused;
        const others = code === 'SKILL_BLOCKED' ? (details.changed as readonly ChangedSkill[]) : [];
        if (others.length === 0) return show(request, undefined, refusal({ message }, 'changed'), 409);
        return show(request, undefined, html`${doneNote(others)}${note(html`<p>${message}</p>`, 'block')}`);
      },
    },
    inbox: async ({ form }) => ({
      title: 'Updates',
      items: outdatedOf(last).map(inboxItem),
      actions: html`${form('/updates/check', html`<button>Look for updates</button>`)}
<p class="quiet">${last === undefined ? 'Asks the origins of installed skills.' : html`Last asked ${formatTime(last.at)} UTC: <a href="/updates">what it found</a>.`}</p>`,
    }),
  };
}

// --- internal ---

function doneNote(changed: readonly ChangedSkill[]): Html {
  const done = changed.map(
    ({ id, proposals }) =>
      html`<li><a href="${address('skills', id)}">${id}</a> is updated${proposals.map((one) => html`; <a href="${address('proposals', one)}">a conflict waits for you</a>`)}</li>`,
  );
  return note(html`<ul>${done}</ul>`);
}

function outdatedOf(last: Checked | undefined): readonly SkillUpdate[] {
  return last?.plan.skills.filter(({ state }) => state === 'outdated') ?? [];
}

function inboxItem({ id, source, files, drifted, findings: found }: SkillUpdate): Html {
  return html`<li class="card">
<p class="line"><a class="title" href="/updates">${id}</a> ${countOf(found, 'block') > 0 ? levelTag('block') : ''} ${drifted ? tag('changed here', 'warn') : ''}</p>
<p class="quiet">${plural(files.length, 'file')} from ${source}</p>
</li>`;
}

function show(request: ReviewRequest, last: Checked | undefined, said?: Html | '', status: 200 | 409 = 200): Page {
  const view = differenceView(request.query('view'), '/updates');
  const outdated = outdatedOf(last);
  const others = last?.plan.skills.filter(({ state }) => state !== 'outdated') ?? [];
  const check = request.form('/updates/check', html`<button>${last ? 'Ask again' : 'Look for updates'}</button>`);
  const main = html`<h1>Updates</h1>
${said ?? ''}
${last ? html`<p class="quiet">Asked ${formatTime(last.at)} UTC.</p>` : html`<p>Asks the origins of installed skills. Nothing is written by asking.</p>`}
${check}
${last && outdated.length === 0 ? html`<p class="empty">There is nothing newer.</p>` : ''}
${outdated.length > 0 ? view.heading('What would change') : ''}
${outdated.map((one) => skillPart(one, view))}
${last && outdated.some(isPlain) ? applyPart(request, last, outdated.filter(isPlain)) : ''}
${others.length > 0 ? html`<h2>The others</h2><ul>${others.map(otherItem)}</ul>` : ''}`;
  return { title: 'Updates', at: '/', main, status };
}

function applyPart(request: ReviewRequest, { key }: Checked, outdated: readonly SkillUpdate[]): Html {
  const alone = outdated.map(({ id }) =>
    request.form('/updates/check', html`${hiddenField('id', id)}<button>Only ${id}</button>`),
  );
  return html`<h2>Decide</h2>
${request.form('/updates/apply', html`${hiddenField('key', key)}<div class="actions"><button class="main">Update ${outdated.length === 1 ? (outdated[0] as SkillUpdate).id : `all ${outdated.length}`}</button></div>`)}
${outdated.length > 1 ? html`<div class="actions">${alone}</div>` : ''}`;
}

/** False with a finding of level `block` that nobody allowed. */
const isPlain = ({ blocked }: SkillUpdate): boolean => blocked === undefined;

function skillPart(
  { id, source, drifted, files, findings: found, blocked, reaches, diff }: SkillUpdate,
  view: ReturnType<typeof differenceView>,
): Html {
  const serious = found.filter(({ level }) => level !== 'info');
  const changes = files.map(({ path, change }) => html`<li><code>${path}</code> ${change}</li>`);
  return html`<h3><a href="${address('skills', id)}">${id}</a> ${drifted ? tag('changed here', 'warn') : ''}</h3>
<p class="quiet">From ${source}</p>
<ul>${changes}</ul>
${serious.length > 0 ? findings(serious) : ''}
${blocked === undefined ? '' : note(html`<p>This looks like an attack, and this page does not install it. A person who has read it is asked by <code>skill-registry update ${id}</code>.</p>`, 'block')}
${reaches && html`<p>${reaches}</p>`}
${diff === '' ? '' : view.show(diff, `/updates/difference?id=${encodeURIComponent(id)}`)}`;
}

function otherItem({ id, state, reason, source }: SkillUpdate): Piece {
  return html`<li>${id}: ${state}${reason === undefined ? '' : `, ${reason}`} <span class="quiet">${source}</span></li>`;
}
