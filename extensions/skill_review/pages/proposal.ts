import { html } from '../html/html.ts';
import { page } from '../html/layout.ts';
import type { Review, ReviewApp } from '../review.ts';

/** One proposal, and the decision about it. */
export function addProposal(app: ReviewApp, review: Review): void {
  const { proposals } = review.registry;
  app.get('/proposals/:id', async (context) => {
    const proposal = await proposals.get(context.req.param('id'));
    const main = html`<h1>${proposal.skillId}</h1><pre>${proposal.diff}</pre>`;
    return context.html(page(context, review, { title: proposal.skillId, at: 'inbox', main }));
  });
}
