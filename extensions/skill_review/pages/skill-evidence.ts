import type { CodedError } from 'skill-registry/kernel';
import type { SkillEvidence } from '../../skill_registry/api.ts';
import { pageNotFound } from '../errors.ts';
import { decision, isRefused, orRefusal } from '../forms.ts';
import { claimsPart, resultPart, usageLine } from '../html/evidence.ts';
import { type Html, html } from '../html/html.ts';
import { page } from '../html/layout.ts';
import { form, note, plural, refusal, skillAddress } from '../html/parts.ts';
import type { Review, ReviewApp, ReviewContext } from '../review.ts';
import { skillHead, skillOf } from './skill-parts.ts';

export function addSkillEvidence(app: ReviewApp, review: Review): void {
  app.get('/skills/:id/evidence', (context) => show(context, review, context.req.param('id')));

  app.post('/skills/:id/evidence', async (context) => {
    const id = context.req.param('id');
    const work = review.registry.admin.evaluate(id).then(() => `${skillAddress(id)}/evidence`);
    return decision(context, review, work, (refused) => show(context, review, id, refused));
  });
}

// --- internal ---

async function show(context: ReviewContext, review: Review, id: string, refused?: CodedError): Promise<Response> {
  const { admin, snapshot, usage } = review.registry;
  const skill = skillOf(snapshot(), id);
  if (!skill) throw pageNotFound();
  const evidence = await admin.evidence(id);
  const report = await orRefusal(usage.report({ skillId: skill.id }));
  const main = html`${skillHead(id, skill, 'evidence')}
${refusal(refused, 'run')}
<h2>What the registry ran</h2>
${results(evidence)}
${evidence.heldBecause === null ? form(context, `${skillAddress(id)}/evidence`, html`<button>Run what needs no model</button>`) : html`<p>It is held, so nothing of it is run.</p>`}
${claimsPart(evidence.claims)}
<h2>Test cases</h2>
${suite(evidence)}
<h2>Usage</h2>
${isRefused(report) ? html`<p class="quiet">${report.refused.message}</p>` : usageLine(report, skill.id)}`;
  const title = `Evidence of ${skill.id}`;
  return context.html(page(context, review, { title, at: 'catalog', main }), refused ? 409 : 200);
}

function results({ result, last, notRead }: SkillEvidence): Html {
  if (notRead !== null) return note(html`<p>${notRead}</p>`, 'warn');
  if (result) return resultPart(result);
  if (!last) return html`<p class="quiet">Nothing was run on this content.</p>`;
  return html`<p class="quiet">Nothing was run on this content. This is of an earlier one:</p>${resultPart(last)}`;
}

function suite({ suite: { cases, queries, files, problems } }: SkillEvidence): Html {
  if (files.length === 0 && queries.length === 0 && problems.length === 0)
    return html`<p class="quiet">It has none: <code>evals/evals.json</code>, a trigger list, or <code>eval.yaml</code>.</p>`;
  const items = cases
    .slice(0, MAX_LISTED)
    .map(
      ({ id, prompt, assertions, expectations }) =>
        html`<li><b>${id}</b> <span class="quiet">${plural(assertions.length, 'assertion')}, ${plural(expectations.length, 'expectation')}</span><p class="said">${prompt.slice(0, 1_000)}</p></li>`,
    );
  return html`<p>${plural(cases.length, 'case')} and ${queries.length === 1 ? '1 trigger query' : `${queries.length} trigger queries`}${files.length > 0 ? html`, in <code>${files.join(', ')}</code>` : ''}.</p>
${problems.map(({ message }) => note(html`<p>${message}</p>`, 'warn'))}
<ul>${items}</ul>
${cases.length > MAX_LISTED ? html`<p class="quiet">and ${cases.length - MAX_LISTED} more</p>` : ''}`;
}

const MAX_LISTED = 50;
