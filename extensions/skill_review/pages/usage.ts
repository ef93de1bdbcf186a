import { html } from '../html/html.ts';
import { page } from '../html/layout.ts';
import type { Review, ReviewApp } from '../review.ts';

/** Which skills are used. */
export function addUsage(app: ReviewApp, review: Review): void {
  app.get('/usage', async (context) => {
    const { all } = await review.registry.proposals.stats();
    const main = html`<h1>Usage</h1>
<p>${all.approved} proposals were approved, ${all.rejected} rejected.</p>`;
    return context.html(page(context, review, { title: 'Usage', at: 'usage', main }));
  });
}
