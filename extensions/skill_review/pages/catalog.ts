import { hiddenField, type Page } from '../../../lib/forms/index.ts';
import { address, formatNumber, type Html, html, plural, verbatim } from '../../../lib/html/index.ts';
import { selection, tag } from '../../../lib/widgets/index.ts';
import type { SkillList, SkillVisibility, TokenCounts } from '../../skill_registry/api.ts';
import type { CorePages, CoreRequest } from '../review.ts';

export const catalogPages: CorePages = {
  get: { '/catalog': list },
  post: {
    async '/catalog/:action{on|off}'(request) {
      const { actor, field, param, registry } = request;
      await registry.admin.setDisabled({ skill: field('skill') }, param('action') === 'off', actor);
      await request.changed();
      return { redirect: `/catalog${queryOf(wantedOf(request))}` };
    },
  },
};

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

function wantedOf({ query }: CoreRequest): Wanted {
  const of = (name: string): string => query(name)?.trim() ?? '';
  return { q: of('q'), tag: of('tag'), source: of('source'), page: Math.max(1, Math.trunc(Number(of('page'))) || 1) };
}

async function list(request: CoreRequest): Promise<Page> {
  const { registry } = request;
  const wanted = wantedOf(request);
  const found = await find(request, wanted);
  const counts = await registry.admin.tokenCounts({ atMost: COUNT_UP_TO });
  const rows = await Promise.all(found.shown.map((one) => rowOf(request, one, wanted, counts)));
  const main = html`<h1>Catalog</h1>
${searchForm(request, wanted)}
<p id="found" class="quiet" role="status" data-live>${foundText(found)}${notInspectedText(registry.admin.notInspected())}</p>
<div id="skills" data-live>
${rows.length === 0 ? html`<p class="empty">${registry.snapshot().skills.length === 0 ? 'There is no skill yet.' : 'No skill fits.'}${nearest(found)}</p>` : html`<ul class="cards skills">${rows}</ul>`}
${pages(found, wanted)}
</div>`;
  return { title: 'Catalog', at: '/catalog', main, live: 'refresh' };
}

/** Without a query in the order of the catalog, skills that lost their id last. */
async function find({ registry, agents }: CoreRequest, { q, tag: of, source, page: at }: Wanted): Promise<Found> {
  const seen = await registry.admin.whoSees(await agents());
  if (q === '') {
    const all = seen.filter(
      ({ skill }) => (of === '' || skill.tags.includes(of)) && (source === '' || skill.source === source),
    );
    return { shown: all.slice((at - 1) * SHOWN, at * SHOWN), total: all.length };
  }
  await registry.admin.prepareQuery(q, {});
  const filter = { ...(of === '' ? {} : { tag: of }), ...(source === '' ? {} : { source }) };
  const list = registry.list({ query: q, ...filter, limit: SHOWN, why: true, audience: 'person' });
  const byId = new Map(seen.filter(({ isLoser }) => !isLoser).map((one) => [one.skill.id, one]));
  return { shown: list.skills.flatMap(({ skillId }) => byId.get(skillId) ?? []), total: list.total, list };
}

function foundText({ total, shown, list }: Found): string {
  const count =
    total > shown.length ? `${formatNumber(shown.length)} of ${plural(total, 'skill')}` : plural(total, 'skill');
  return total > 0 && list?.message ? `${count}. ${list.message}` : count;
}

function notInspectedText(pending: number): string {
  return pending === 0 ? '' : `; ${formatNumber(pending)} not inspected yet`;
}

function searchForm({ registry }: CoreRequest, { q, tag: of, source }: Wanted): Html {
  const { skills } = registry.snapshot();
  const field = (name: string, label: string, values: readonly string[], chosen: string): Html => {
    const all = [...new Set(values)].sort().map((one) => [one, one] as const);
    return selection(name, label, [['', 'all'], ...all], chosen);
  };
  const tags = skills.flatMap((skill) => skill.tags);
  const sources = skills.map((skill) => skill.source);
  return html`<form method="get" action="/catalog" role="search" data-search>
<div class="grow"><label for="q">Search</label>
<input id="q" name="q" type="search" value="${verbatim(q)}" placeholder="a task, a name, &quot;a phrase&quot;" autocomplete="off"></div>
${field('tag', 'Tag', tags, of)}
${field('source', 'Source', sources, source)}
<button>Search</button>
</form>`;
}

async function rowOf(
  request: CoreRequest,
  { skill, isLoser, views }: SkillVisibility,
  wanted: Wanted,
  counts: ReadonlyMap<string, TokenCounts>,
): Promise<Html> {
  const { id, qualifiedId, description, tags, source, heldBecause, disabledFor } = skill;
  const name = isLoser ? qualifiedId : id;
  const isOff = disabledFor === 'everyone';
  const [to, verb] = isOff ? ['on', 'Enable'] : ['off', 'Disable'];
  const button = html`${hiddenField('skill', name)}<button class="small" aria-label="${verb} ${name} for every agent">${verb}</button>`;
  const tokens = isLoser ? undefined : counts.get(id);
  // A list does not fetch remote files.
  const known = skill.remote
    ? []
    : await Promise.all(request.features.map((one) => one.skillCard?.(request, qualifiedId)));
  return html`<li class="card">
<div class="line"><a class="title" href="${address('skills', name)}">${name}</a>
${heldBecause === undefined ? '' : tag('held', 'block')}${isOff ? tag('disabled', 'warn') : ''}
${known.map((one) => one?.tags)}
${request.isOfTeam ? '' : request.form(`/catalog/${to}${queryOf(wanted)}`, button, html` class="end"`)}</div>
<p>${shortened(description)}</p>
<p class="quiet facts"><span>${source}${known.map((one) => one?.source)}</span>
<span>${tokenText(tokens)}</span>
<span>${shownText(views)}</span>
${tags.map((one) => html`<a class="tag" href="/catalog${queryOf({ q: '', tag: one, source: '', page: 1 })}">${one}</a>`)}</p>
</li>`;
}

function tokenText({ l1, l2 }: TokenCounts = { l1: null, l2: null }): string {
  const of = (tokens: number | null): string => (tokens === null ? '?' : formatNumber(tokens));
  return `${of(l1)} tokens in its line, ${of(l2)} in its body`;
}

function shownText(views: SkillVisibility['views']): string {
  const kept = views.filter(({ because }) => because !== undefined);
  if (kept.length === 0) return views.length === 1 ? 'shown to agents' : 'shown to all agents';
  if (kept.length === views.length) return `shown to nobody: ${shortened(kept[0]?.because ?? '')}`;
  const names = (of: SkillVisibility['views']): string => of.map(({ agent }) => agent ?? 'any other').join(', ');
  const seeing = views.filter(({ because }) => because === undefined);
  return seeing.length > kept.length ? `shown to all agents but ${names(kept)}` : `shown to ${names(seeing)} only`;
}

function shortened(text: string): string {
  const characters = [...text];
  return characters.length > 240 ? `${characters.slice(0, 239).join('')}…` : text;
}

function nearest({ list }: Found): Html | '' {
  if (!list?.nearest?.length) return '';
  return html` Nearest: ${list.nearest.map((id) => html`<a href="${address('skills', id)}">${id}</a> `)}`;
}

function pages({ total, list }: Found, wanted: Wanted): Html | '' {
  const last = list ? 1 : Math.ceil(total / SHOWN);
  if (last < 2) return '';
  const to = (at: number, text: string): Html =>
    html`<a href="/catalog${queryOf({ ...wanted, page: at })}">${text}</a>`;
  return html`<nav class="actions" aria-label="More skills">
${wanted.page > 1 ? to(wanted.page - 1, 'Before') : ''} <span>Page ${wanted.page} of ${last}</span> ${wanted.page < last ? to(wanted.page + 1, 'After') : ''}
</nav>`;
}

function queryOf({ page: at, ...texts }: Wanted): string {
  const given = Object.entries({ ...texts, page: at > 1 ? String(at) : '' }).filter(([, value]) => value !== '');
  return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
}
