import { isAbsolute, relative } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import type { Page } from '../../../lib/forms/index.ts';
import { address, formatNumber, type Html, html, plural } from '../../../lib/html/index.ts';
import { tag } from '../../../lib/widgets/index.ts';
import type { CorePages, CoreRequest } from '../review.ts';

export const problemPages: CorePages = { get: { '/problems': show } };

export function problemsLine({ registry }: CoreRequest): Html | '' {
  const found = registry.problems();
  return found.length === 0
    ? ''
    : html`<p class="problems"><a href="/problems">${summary(found)}</a> in skills, sources and settings</p>`;
}

// --- internal ---

async function show(request: CoreRequest): Promise<Page> {
  const isWhole = request.query('files') === 'all';
  const found = [...(isWhole ? await inFiles(request) : []), ...request.registry.problems()];
  const main = html`<h1>Problems</h1>
<div id="problems" data-live>
${found.length === 0 ? html`<p class="empty">Nothing is wrong.</p>` : html`<p>${summary(found)}.</p>${groups(found).map((group) => section(group, request))}`}
</div>
<form class="after" method="get" action="/problems">
<input type="hidden" name="files" value="all">
<button>Look into every file</button>
<p class="quiet">${isWhole ? 'Hidden text and long instructions were looked for, too.' : 'Looks for hidden text and long instructions, too, which takes longer with many skills.'}</p>
</form>`;
  return { title: 'Problems', at: '/problems', main, live: isWhole ? 'notice' : 'refresh' };
}

const MAX_SHOWN = 100;

function summary(found: readonly Problem[]): string {
  const errors = found.filter(({ severity }) => severity === 'error').length;
  const both = [
    ...(errors > 0 ? [plural(errors, 'error')] : []),
    ...(errors < found.length ? [plural(found.length - errors, 'warning')] : []),
  ];
  return both.join(' and ');
}

async function inFiles({ registry, features }: CoreRequest): Promise<readonly Problem[]> {
  await registry.admin.tokenCounts();
  return (await Promise.all(features.map((one) => one.problemsInFiles?.() ?? []))).flat();
}

/** Errors first, then the most frequent code: one correction may solve many problems. */
function groups(found: readonly Problem[]): readonly (readonly Problem[])[] {
  const byCode = new Map<string, Problem[]>();
  for (const problem of found) {
    const key = `${problem.severity} ${problem.code}`;
    byCode.set(key, [...(byCode.get(key) ?? []), problem]);
  }
  const rank = ([one]: readonly Problem[]): number => (one?.severity === 'error' ? 0 : 1);
  return [...byCode.values()].sort((one, other) => rank(one) - rank(other) || other.length - one.length);
}

function section(group: readonly Problem[], { registry, root }: CoreRequest): Html {
  const [{ code, severity } = { code: '', severity: 'warning' }] = group;
  const skills = [...registry.snapshot().byQualifiedId.values()];
  const items = group.slice(0, MAX_SHOWN).map(({ file, line, message }) => {
    const owner = skills.find(
      (skill) => skill.file === file || (skill.dir !== null && file.startsWith(`${skill.dir}/`)),
    );
    return html`<li class="card">
<p class="line">${owner ? html`<a class="title" href="${address('skills', owner.qualifiedId)}">${owner.id}</a>` : ''} <code>${shownPath(file, root)}${line === undefined ? '' : `:${line}`}</code></p>
<p>${message}</p>
${buttonFor(code, owner && address('skills', owner.qualifiedId))}</li>`;
  });
  const more = group.length - items.length;
  const words = `${code.charAt(0)}${code.slice(1).toLowerCase().replaceAll('_', ' ')}`;
  return html`<h2>${words} ${tag(severity, severity === 'error' ? 'block' : 'warn')} <span class="count">${group.length} <code>${code}</code></span></h2>
<ul class="cards">${items}</ul>
${more > 0 ? html`<p class="quiet">${formatNumber(more)} more of these: <code>skill-registry doctor</code> lists all.</p>` : ''}`;
}

/** Where a person can press something about it. */
function buttonFor(code: string, ownPage: string | undefined): Html | '' {
  const to = code === 'SKILL_HELD' ? ownPage : PRESSED_AT[code];
  return to === undefined
    ? ''
    : html`<div class="actions"><a class="button small" href="${to}">Look at it, and decide</a></div>`;
}

const PRESSED_AT: Readonly<Record<string, string>> = {
  ROOT_NOT_APPROVED: '/decisions',
  SOURCE_REVOKED: '/decisions',
  EXTENSION_HELD: '/',
};

function shownPath(file: string, root: string): string {
  const path = relative(root, file);
  return path === '' || path.startsWith('..') || isAbsolute(path) ? file : path;
}
