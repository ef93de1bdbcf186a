import { orRefusal, type Page } from '../../../../lib/forms/index.ts';
import {
  address,
  formatNumber,
  formatTime,
  type Html,
  html,
  type Piece,
  plural,
  verbatim,
} from '../../../../lib/html/index.ts';
import { type Cell, dayChart, note, rowBar, selection, table } from '../../../../lib/widgets/index.ts';
import type { ReviewPages, ReviewRequest } from '../../core/review.ts';
import type { UsageQuery, UsageReport } from './types.ts';

export const usagePages: ReviewPages = {
  get: { '/usage': show },
  navigation: [{ address: '/usage', text: 'Usage' }],
  parts: [
    {
      page: '/skills/:id/evidence',
      text: 'usage',
      async show({ registry }, skillId = '') {
        const { refused, value } = await orRefusal(registry.usage.report({ skillId }));
        return html`<h2>Usage</h2>
${refused ? html`<p class="quiet">${refused.message}</p>` : usageLine(value, skillId)}`;
      },
    },
    {
      page: '/proposals/:id',
      async show({ registry }, skillId) {
        if (skillId === undefined) return '';
        const { value } = await orRefusal(registry.usage.report({ skillId }));
        return value && usageLine(value, skillId);
      },
    },
  ],
};

export function usageLine({ totals, since, until }: UsageReport, skillId: string): Html {
  // The report contains the whole first day, one more than requested.
  const days = Math.floor((Date.parse(until) - Date.parse(since)) / 86_400_000);
  const { offers, loads, refusals, failures: failed } = totals;
  const more = [
    ...(refusals > 0 ? [`refused ${plural(refusals, 'time')}`] : []),
    ...(failed > 0 ? [`failed ${plural(failed, 'time')}`] : []),
  ];
  return html`<p>In the last ${plural(days, 'day')}: loaded ${plural(loads, 'time')}, offered ${plural(offers, 'time')}${more.map((one) => `, ${one}`)}. <a href="/usage?skill=${encodeURIComponent(skillId)}">Its usage</a></p>`;
}

// --- internal ---

async function show({ query, registry }: ReviewRequest): Promise<Page> {
  const of = (name: string): string | undefined => query(name)?.trim() || undefined;
  const wanted = { since: of('since') ?? '30d', agent: of('agent'), skillId: of('skill') };
  const [report, everyone] = await Promise.all([
    registry.usage.report(wanted),
    registry.usage.report({ since: wanted.since }),
  ]);
  const agents = everyone.agents.flatMap(({ agent }) => agent ?? []);
  const known = registry.snapshot().byId;
  const link = (id: string): Html => (known.has(id) ? html`<a href="${address('skills', id)}">${id}</a>` : html`${id}`);
  const main = html`<h1>Usage</h1>
${filters(wanted, agents)}
<div id="usage" data-live>
${report.notKept === null ? '' : note(html`Nothing is kept on disk at present: ${report.notKept}`, 'warn')}
${totals(report)}
${report.totals.offers + report.totals.loads === 0 ? html`<p class="empty">Nothing was recorded in this time.</p>` : charts(report, link)}
${wanted.skillId === undefined && wanted.agent === undefined ? dead(report, link) : ''}
</div>`;
  return { title: 'Usage', at: '/usage', main, live: 'refresh' };
}

const SHOWN = 15;
const RANGES = { '7d': 'last 7 days', '30d': 'last 30 days', '90d': 'last 90 days', '180d': 'last 180 days' };

type Link = (skillId: string) => Html;

function filters({ since = '', agent = '', skillId = '' }: UsageQuery, agents: readonly string[]): Html {
  const ranges = Object.entries({ ...(since in RANGES ? {} : { [since]: `since ${since}` }), ...RANGES });
  const named = agent !== '' && !agents.includes(agent) ? [agent, ...agents] : agents;
  return html`<form method="get" action="/usage" class="filters">
${selection('since', 'Time', ranges, since)}
${selection('agent', 'Agent', [['', 'all'], ...named.map((one) => [one, one] as const)], agent)}
<div><label for="skill">Skill</label>
<input id="skill" name="skill" value="${verbatim(skillId)}" placeholder="all" autocomplete="off"></div>
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
  const bars = report.days.map(({ day, loads }) => ({ day, value: loads }));
  const days = report.days.map(({ day, loads, offers }) => [day, loads, offers]);
  return html`<section aria-labelledby="by-day">
<h2 id="by-day">Loads a day</h2>
${dayChart('loads', 'Loads a day', bars)}
<details><summary>The same as a table</summary>
${table('Loads and offers a day', ['Day', 'Loads', 'Offers'], days, 'fit')}
</details>
</section>
${mostUsed(report, link)}
${offeredAndTaken(report, link)}
${missed(report, link)}
${reads(report, link)}
${outcomes(report, link)}
${failing(report, link)}
${byAgent(report)}`;
}

function mostUsed({ skills }: UsageReport, link: Link): Html | '' {
  const used = skills.filter(({ loads }) => loads > 0);
  const most = Math.max(...used.map(({ loads }) => loads));
  const rows = used.slice(0, SHOWN).map(({ skillId, loads, agents, tokens, failures, refusals, lastLoad }) => {
    const bar = rowBar(most, [loads, 'taken']);
    const last = lastLoad === null ? '' : formatTime(lastLoad);
    return [link(skillId), bar, loads, agents, tokens, failures + refusals, last];
  });
  return section('Most used', ['Skill', '', 'Loads', 'Agents', 'Tokens', 'Failed', 'Last load'], rows, used.length);
}

/** A skill that is often offered and never loaded may have a misleading description. */
function offeredAndTaken({ skills }: UsageReport, link: Link): Html | '' {
  const offered = skills.filter(({ offers }) => offers > 0).sort((one, other) => other.notTaken - one.notTaken);
  const most = Math.max(...offered.map(({ offers }) => offers));
  const rows = offered.slice(0, SHOWN).map(({ skillId, offers, notTaken }) => {
    const taken = offers - notTaken;
    const bar = rowBar(most, [taken, 'taken'], [notTaken, 'not-taken']);
    return [link(skillId), bar, offers, taken, `${Math.round((taken / offers) * 100)} %`];
  });
  const key = html`<p class="quiet key"><span class="taken">taken</span> <span class="not-taken">offered and not taken</span></p>`;
  return section('Offered against taken', ['Skill', '', 'Offered', 'Taken', 'Share'], rows, offered.length, key);
}

function missed({ missed: found }: UsageReport, link: Link): Html | '' {
  const shown = found.slice(0, SHOWN);
  const rows = shown.map((one) => [
    link(one.skillId),
    one.times,
    one.threads,
    formatTime(one.last),
    one.words.join(' '),
  ]);
  const words = html`<p class="quiet">Fitted well, offered in a conversation, and not loaded in it. Over MCP only searches are known.</p>`;
  const header = ['Skill', 'Times', 'Conversations', 'Last', 'Its words that fitted'];
  return section('Missed', header, rows, found.length, words);
}

/** Of one skill its files; of all, those whose references nobody reads. */
function reads({ files, unread }: UsageReport, link: Link): readonly (Html | '')[] {
  const never = unread.slice(0, SHOWN).map(({ skillId, loads, references }) => [link(skillId), loads, references]);
  const shown = (files ?? []).slice(0, SHOWN).map(({ path, reads }) => [html`<code>${path}</code>`, reads || 'never']);
  return [
    section('Its other files', ['File', 'Read'], shown, files?.length ?? 0),
    section('Loaded, references never read', ['Skill', 'Loads', 'References'], never, unread.length),
  ];
}

/** Counts only: of a few conversations nobody can say whether a change has helped. */
function outcomes({ outcomes: found }: UsageReport, link: Link): Html | '' {
  const rows = found
    .slice(0, SHOWN)
    .map((one) => [link(one.skillId), one.revision ?? '', formatTime(one.since), one.helped, one.didNot]);
  const words = html`<p class="quiet">What was said of conversations in which this content of the skill was loaded. A few say little.</p>`;
  return section('Helped or not', ['Skill', 'Revision', 'Since', 'Helped', 'Did not'], rows, found.length, words);
}

function failing({ failing: found }: UsageReport, link: Link): Html | '' {
  const shown = found.slice(0, SHOWN);
  const rows = shown.map(({ skillId, code, count }) => [link(skillId), html`<code>${code}</code>`, count]);
  return section('What fails', ['Skill', 'Code', 'Times'], rows, found.length);
}

function byAgent({ agents }: UsageReport): Html | '' {
  const shown = agents.slice(0, SHOWN);
  const rows = shown.map((one) => [one.agent ?? 'without a name', one.loads, one.offers, one.tokens, one.failures]);
  return section('By agent', ['Agent', 'Loads', 'Offers', 'Tokens', 'Failed'], rows, agents.length);
}

function dead({ dead: unused, since }: UsageReport, link: Link): Html | '' {
  if (unused.length === 0) return html`<h2>Not used</h2><p>Every skill was loaded since ${formatTime(since)}.</p>`;
  const lastOf = (time: string | null): Cell => (time === null ? 'never' : formatTime(time));
  const rows = unused.map(({ skillId, offers, lastLoad }) => [link(skillId), offers, lastOf(lastLoad)]);
  const words = html`<p class="quiet">${plural(unused.length, 'skill')} in the catalog, not loaded since ${formatTime(since)}.</p>`;
  return section('Not used', ['Skill', 'Offered', 'Last load'], rows, rows.length, words);
}

function section(
  title: string,
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  total: number,
  words: Piece = '',
): Html | '' {
  if (rows.length === 0) return '';
  const more = total - rows.length;
  return html`<section><h2>${title}</h2>${words}${table(title, header, rows, 'fit')}
${more > 0 ? html`<p class="quiet">${formatNumber(more)} more are not shown.</p>` : ''}</section>`;
}
