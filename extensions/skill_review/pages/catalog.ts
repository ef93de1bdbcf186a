import type { SkillList, SkillVisibility, TokenCounts } from '../../skill_registry/api.ts';
import { actorOf, fieldsOf } from '../forms.ts';
import { type Html, html, verbatim } from '../html/html.ts';
import { page } from '../html/layout.ts';
import { form, formatNumber, hiddenField, levelTag, plural, skillAddress, tag } from '../html/parts.ts';
import type { Review, ReviewApp, ReviewContext } from '../review.ts';
import { problemsLine } from './problems.ts';

export function addCatalog(app: ReviewApp, review: Review): void {
  const { registry } = review;
  app.get('/catalog', async (context) => {
    const wanted = wantedOf(context);
    const found = await find(review, wanted);
    const counts = await registry.admin.tokenCounts({ atMost: COUNT_UP_TO });
    const rows = await Promise.all(found.shown.map((one) => rowOf(one, { context, review, wanted, counts })));
    const main = html`<h1>Catalog</h1>
${searchForm(review, wanted)}
<p id="found" class="quiet" role="status" data-live>${foundText(found)}</p>
<div id="skills" data-live>
${problemsLine(review)}
${rows.length === 0 ? html`<p class="empty">${registry.snapshot().skills.length === 0 ? 'There is no skill yet.' : 'No skill fits.'}${nearest(found)}</p>` : html`<ul class="cards skills">${rows}</ul>`}
${pages(found, wanted)}
</div>`;
    return context.html(page(context, review, { title: 'Catalog', at: 'catalog', main, live: 'refresh' }));
  });

  app.post('/catalog/:action{on|off}', async (context) => {
    const fields = await fieldsOf(context);
    await registry.admin.setDisabled(
      { skill: fields.text('skill') },
      context.req.param('action') === 'off',
      actorOf(review),
    );
    review.changed();
    return context.redirect(addressOf(wantedOf(context)), 303);
  });
}

// --- internal ---

const SHOWN = 100;
/** Above this number only cached counts are shown: counting loads the tokenizer and reads every body. */
const COUNT_UP_TO = 200;

interface Wanted {
  readonly q: string;
  readonly tag: string;
  readonly source: string;
  readonly page: number;
}

interface Found {
  readonly shown: readonly SkillVisibility[];
  readonly total: number;
  readonly list?: SkillList;
}

function wantedOf({ req }: ReviewContext): Wanted {
  const of = (name: string): string => req.query(name)?.trim() ?? '';
  return { q: of('q'), tag: of('tag'), source: of('source'), page: Math.max(1, Math.trunc(Number(of('page'))) || 1) };
}

/** Without a query in the order of the catalog, skills that lost their id last. */
async function find({ registry, agents }: Review, { q, tag: of, source, page: at }: Wanted): Promise<Found> {
  const seen = await registry.admin.whoSees(await agents());
  if (q === '') {
    const all = seen.filter(
      ({ skill }) => (of === '' || skill.tags.includes(of)) && (source === '' || skill.source === source),
    );
    return { shown: all.slice((at - 1) * SHOWN, at * SHOWN), total: all.length };
  }
  await registry.admin.prepareSearch(q);
  const filter = { ...(of === '' ? {} : { tag: of }), ...(source === '' ? {} : { source }) };
  const list = registry.list({ query: q, ...filter, limit: SHOWN, why: true, audience: 'person' });
  const byId = new Map(seen.filter(({ isLoser }) => !isLoser).map((one) => [one.skill.id, one]));
  return { shown: list.skills.flatMap(({ skillId }) => byId.get(skillId) ?? []), total: list.total, list };
}

function foundText({ total, shown }: Found): string {
  return total > shown.length ? `${formatNumber(shown.length)} of ${plural(total, 'skill')}` : plural(total, 'skill');
}

function searchForm({ registry }: Review, { q, tag: of, source }: Wanted): Html {
  const { skills } = registry.snapshot();
  const options = (name: string, label: string, values: Iterable<string>, chosen: string): Html => {
    const all = [...new Set(values)].sort();
    return html`<div><label for="${name}">${label}</label>
<select id="${name}" name="${name}"><option value="">all</option>
${all.map((one) => html`<option value="${verbatim(one)}"${one === chosen ? html` selected` : ''}>${one}</option>`)}
</select></div>`;
  };
  return html`<form method="get" action="/catalog" role="search" data-search>
<div class="grow"><label for="q">Search</label>
<input id="q" name="q" type="search" value="${verbatim(q)}" placeholder="a task, a name, &quot;a phrase&quot;" autocomplete="off"></div>
${options(
  'tag',
  'Tag',
  skills.flatMap(({ tags }) => tags),
  of,
)}
${options(
  'source',
  'Source',
  skills.map((skill) => skill.source),
  source,
)}
<button>Search</button>
</form>`;
}

interface Row {
  readonly context: ReviewContext;
  readonly review: Review;
  readonly wanted: Wanted;
  readonly counts: ReadonlyMap<string, TokenCounts>;
}

async function rowOf(
  { skill, isLoser, views }: SkillVisibility,
  { context, review, wanted, counts }: Row,
): Promise<Html> {
  const { id, qualifiedId, description, tags, source, heldBecause, disabledFor } = skill;
  const name = isLoser ? qualifiedId : id;
  const isOff = disabledFor === 'everyone';
  const tokens = isLoser ? undefined : counts.get(id);
  // The skill may be removed meanwhile. A list does not fetch remote files.
  const trust = skill.remote ? undefined : await review.registry.admin.trustOf(qualifiedId).catch(() => undefined);
  const levels = (['block', 'warn'] as const).map(
    (how) => [how, (trust?.findings ?? []).filter((one) => one.level === how).length] as const,
  );
  return html`<li class="card">
<div class="line"><a class="title" href="${skillAddress(name)}">${name}</a>
${heldBecause === undefined ? '' : tag('held', 'block')}${isOff ? tag('off') : ''}
${levels.map(([how, many]) => (many > 0 ? html`${levelTag(how)}<span class="quiet"> ${many}</span>` : ''))}
${form(
  context,
  `/catalog/${isOff ? 'on' : 'off'}${queryOf(wanted)}`,
  html`${hiddenField('skill', name)}<button class="small" aria-label="Turn ${isOff ? 'on' : 'off'} ${name} for every agent">Turn ${isOff ? 'on' : 'off'}</button>`,
  html` class="end"`,
)}</div>
<p>${shortened(description)}</p>
<p class="quiet facts"><span>${source}${trust?.origin === 'brought-in' ? ', brought in' : ''}</span>
<span>${tokenText(tokens)}</span>
<span>${seenText(views)}</span>
${tags.map((one) => html`<a class="tag" href="${addressOf({ q: '', tag: one, source: '', page: 1 })}">${one}</a>`)}</p>
</li>`;
}

function tokenText({ l1, l2 }: TokenCounts = { l1: null, l2: null }): string {
  const of = (tokens: number | null): string => (tokens === null ? '?' : formatNumber(tokens));
  return `${of(l1)} tokens, ${of(l2)} more when loaded`;
}

function seenText(views: SkillVisibility['views']): string {
  const kept = views.filter(({ because }) => because !== undefined);
  if (kept.length === 0) return views.length === 1 ? 'seen by agents' : 'seen by all agents';
  if (kept.length === views.length) return `seen by nobody: ${shortened(kept[0]?.because ?? '')}`;
  const names = (of: SkillVisibility['views']): string => of.map(({ agent }) => agent ?? 'any other').join(', ');
  const seeing = views.filter(({ because }) => because === undefined);
  return seeing.length > kept.length ? `seen by all agents but ${names(kept)}` : `seen by ${names(seeing)} only`;
}

function shortened(text: string): string {
  const characters = [...text];
  return characters.length > 240 ? `${characters.slice(0, 239).join('')}…` : text;
}

function nearest({ list }: Found): Html | '' {
  if (!list?.nearest?.length) return '';
  return html` Nearest: ${list.nearest.map((id) => html`<a href="${skillAddress(id)}">${id}</a> `)}`;
}

function pages({ total, list }: Found, wanted: Wanted): Html | '' {
  const last = list ? 1 : Math.ceil(total / SHOWN);
  if (last < 2) return '';
  const to = (at: number, text: string): Html => html`<a href="${addressOf({ ...wanted, page: at })}">${text}</a>`;
  return html`<nav class="actions" aria-label="More skills">
${wanted.page > 1 ? to(wanted.page - 1, 'Before') : ''} <span>Page ${wanted.page} of ${last}</span> ${wanted.page < last ? to(wanted.page + 1, 'After') : ''}
</nav>`;
}

function addressOf(wanted: Wanted): string {
  return `/catalog${queryOf(wanted)}`;
}

function queryOf({ page: at, ...texts }: Wanted): string {
  const given = Object.entries({ ...texts, page: at > 1 ? String(at) : '' }).filter(([, value]) => value !== '');
  return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
}
