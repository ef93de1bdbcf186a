import { html } from '../html/html.ts';
import { page } from '../html/layout.ts';
import type { Review, ReviewApp } from '../review.ts';

/** One skill: what it says, its files, and what it was. */
export function addSkill(app: ReviewApp, review: Review): void {
  const { registry } = review;
  app.get('/skills/:id', async (context) => {
    const read = await registry.read(context.req.param('id'));
    const main = html`<h1>${read.skillId}</h1><pre>${read.content}</pre>`;
    return context.html(page(context, review, { title: read.skillId, at: 'catalog', main }));
  });
}
