import type { Skill } from '../../skill_registry/api.ts';
import { type Html, html, verbatim } from '../html/html.ts';
import { page } from '../html/layout.ts';
import { plural, skillAddress, tag } from '../html/parts.ts';
import type { Review, ReviewApp } from '../review.ts';

/** All skills, and search. */
export function addCatalog(app: ReviewApp, review: Review): void {
  const { registry } = review;
  app.get('/catalog', async (context) => {
    const query = context.req.query('q')?.trim() ?? '';
    if (query !== '') await registry.admin.searchReady(query);
    const { byId, skills } = registry.snapshot();
    const found =
      query === ''
        ? skills
        : registry.list({ query, limit: 200, audience: 'person' }).skills.flatMap((one) => byId.get(one.skillId) ?? []);
    const main = html`<h1>Catalog</h1>
<form method="get" action="/catalog" role="search">
<label for="q">Search</label>
<input id="q" name="q" type="search" value="${verbatim(query)}">
<button>Search</button>
</form>
<div id="skills" data-live>
<p class="quiet">${plural(found.length, 'skill')}</p>
<table>
<thead><tr><th scope="col">Skill</th><th scope="col">What it is for</th><th scope="col">Source</th></tr></thead>
<tbody>${found.map(row)}</tbody>
</table>
</div>`;
    return context.html(page(context, review, { title: 'Catalog', at: 'catalog', main, live: 'refresh' }));
  });
}

// --- internal ---

function row({ id, description, source, heldBecause, disabledFor }: Skill): Html {
  return html`<tr>
<th scope="row"><a href="${skillAddress(id)}">${id}</a>${heldBecause === undefined ? '' : tag('held', 'block')}${disabledFor === undefined ? '' : tag('disabled')}</th>
<td>${description.slice(0, 300)}</td>
<td>${source}</td>
</tr>`;
}
