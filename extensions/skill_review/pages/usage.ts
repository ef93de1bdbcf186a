import type { UsageReport } from '../../skill_registry/api.ts';
import { dayChart, rowBar } from '../html/charts.ts';
import { type Html, html, type Piece, verbatim } from '../html/html.ts';
import { page } from '../html/layout.ts';
import { type Cell, formatNumber, formatTime, note, plural, skillAddress, table } from '../html/parts.ts';
import type { Review, ReviewApp } from '../review.ts';

export function addUsage(app: ReviewApp, review: Review): void {
  const { registry } = review;
  app.get('/usage', async (context) => {
    const of = (name: string): string | undefined => context.req.query(name)?.trim() || undefined;
    const wanted = { since: of('since') ?? '30d', agent: of('agent'), skillId: of('skill') };
    const [report, everyone] = await Promise.all([
      registry.usage.report(wanted),
      registry.usage.report({ since: wanted.since }),
    ]);
    const agents = everyone.agents.flatMap(({ agent }) => agent ?? []);
    const known = registry.snapshot().byId;
    const link = (id: string): Html => (known.has(id) ? html`<a href="${skillAddress(id)}">${id}</a>` : html`${id}`);
    const main = html`<h1>Usage</h1>
${filters(wanted, agents)}
<div id="usage" data-live>
${report.notKept === null ? '' : note(html`Nothing is kept on disk at present: ${report.notKept}`, 'warn')}
${totals(report)}
${report.totals.offers + report.totals.loads === 0 ? html`<p class="empty">Nothing was recorded in this time.</p>` : charts(report, link)}
${wanted.skillId === undefined && wanted.agent === undefined ? dead(report, link) : ''}
</div>`;
    return context.html(page(context, review, { title: 'Usage', at: 'usage', main, live: 'refresh' }));
  });
}

// --- internal ---

const SHOWN = 15;
const RANGES = { '7d': 'last 7 days', '30d': 'last 30 days', '90d': 'last 90 days', '180d': 'last 180 days' };

type Link = (skillId: string) => Html;

interface Wanted {
  readonly since: string;
  readonly agent: string | undefined;
  readonly skillId: string | undefined;
}

function filters({ since, agent, skillId }: Wanted, agents: readonly string[]): Html {
  const option = (value: string, text: string, chosen: string): Html =>
    html`<option value="${verbatim(value)}"${value === chosen ? html` selected` : ''}>${text}</option>`;
  const ranges = Object.entries({ ...(since in RANGES ? {} : { [since]: `since ${since}` }), ...RANGES });
  const named = agent !== undefined && !agents.includes(agent) ? [agent, ...agents] : agents;
  return html`<form method="get" action="/usage" class="filters">
<div><label for="since">Time</label>
<select id="since" name="since">${ranges.map(([value, text]) => option(value, text, since))}</select></div>
<div><label for="agent">Agent</label>
<select id="agent" name="agent">${option('', 'all', agent ?? '')}${named.map((one) => option(one, one, agent ?? ''))}</select></div>
<div><label for="skill">Skill</label>
<input id="skill" name="skill" value="${verbatim(skillId ?? '')}" placeholder="all" autocomplete="off"></div>
<button>Show</button>
</form>`;
}

function totals({ totals: all, skills }: UsageReport): Html {
  const one = (label: string, value: number): Html => html`<div><dt>${label}</dt><dd>${formatNumber(value)}</dd></div>`;
  return html`<dl class="figures">
${one('loads', all.loads)}${one('skills loaded', skills.filter(({ loads }) => loads > 0).length)}${one('offers', all.offers)}
${one('files read', all.resources)}${one('tokens handed over', all.tokens)}${one('refused', all.refusals)}${one('failed', all.failures)}
</dl>`;
}

function charts(report: UsageReport, link: Link): Html {
  return html`<section aria-labelledby="by-day">
<h2 id="by-day">Loads a day</h2>
${dayChart(
  'loads',
  'Loads a day',
  report.days.map(({ day, loads }) => ({ day, value: loads })),
)}
<details><summary>The same as a table</summary>
${table(
  'Loads and offers a day',
  ['Day', 'Loads', 'Offers'],
  report.days.map(({ day, loads, offers }) => [day, loads, offers]),
  'fit',
)}
</details>
</section>
${mostUsed(report, link)}
${offeredAndTaken(report, link)}
${failing(report, link)}
${byAgent(report)}`;
}

function mostUsed({ skills }: UsageReport, link: Link): Html | '' {
  const used = skills.filter(({ loads }) => loads > 0);
  const most = Math.max(...used.map(({ loads }) => loads));
  const rows = used
    .slice(0, SHOWN)
    .map(({ skillId, loads, agents, tokens, failures, refusals, lastLoad }) => [
      link(skillId),
      rowBar([{ value: loads, kind: 'taken' }], most),
      loads,
      agents,
      tokens,
      failures + refusals,
      lastLoad === null ? '' : formatTime(lastLoad),
    ]);
  return section('Most used', ['Skill', '', 'Loads', 'Agents', 'Tokens', 'Failed', 'Last load'], rows, used.length);
}

/** A skill that is often offered and never loaded may have a misleading description. */
function offeredAndTaken({ skills }: UsageReport, link: Link): Html | '' {
  const offered = skills.filter(({ offers }) => offers > 0).sort((one, other) => other.notTaken - one.notTaken);
  const most = Math.max(...offered.map(({ offers }) => offers));
  const rows = offered.slice(0, SHOWN).map(({ skillId, offers, notTaken }) => [
    link(skillId),
    rowBar(
      [
        { value: offers - notTaken, kind: 'taken' },
        { value: notTaken, kind: 'not-taken' },
      ],
      most,
    ),
    offers,
    offers - notTaken,
    `${Math.round(((offers - notTaken) / offers) * 100)} %`,
  ]);
  const key = html`<p class="quiet key"><span class="taken">taken</span> <span class="not-taken">offered and not taken</span></p>`;
  return section('Offered against taken', ['Skill', '', 'Offered', 'Taken', 'Share'], rows, offered.length, key);
}

function failing({ failing: found }: UsageReport, link: Link): Html | '' {
  const rows = found
    .slice(0, SHOWN)
    .map(({ skillId, code, count: times }) => [link(skillId), html`<code>${code}</code>`, times]);
  return section('What fails', ['Skill', 'Code', 'Times'], rows, found.length);
}

function byAgent({ agents }: UsageReport): Html | '' {
  const rows = agents
    .slice(0, SHOWN)
    .map(({ agent, offers, loads, failures }) => [agent ?? 'without a name', loads, offers, failures]);
  return section('By agent', ['Agent', 'Loads', 'Offers', 'Failed'], rows, agents.length);
}

function dead({ dead: unused, since }: UsageReport, link: Link): Html {
  if (unused.length === 0) return html`<h2>Not used</h2><p>Every skill was loaded since ${formatTime(since)}.</p>`;
  const rows = unused.map(({ skillId, offers, lastLoad }) => [
    link(skillId),
    offers,
    lastLoad === null ? 'never' : formatTime(lastLoad),
  ]);
  const words = html`<p class="quiet">${plural(unused.length, 'skill')} in the catalog, not loaded since ${formatTime(since)}.</p>`;
  return section('Not used', ['Skill', 'Offered', 'Last load'], rows, rows.length, words) as Html;
}

function section(
  title: string,
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  total: number,
  words: Piece = '',
): Html | '' {
  if (rows.length === 0) return '';
  const more =
    total > rows.length ? html`<p class="quiet">${formatNumber(total - rows.length)} more are not shown.</p>` : '';
  return html`<section><h2>${title}</h2>${words}${table(title, header, rows, 'fit')}${more}</section>`;
}
