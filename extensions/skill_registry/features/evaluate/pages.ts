import type { CodedError } from 'skill-registry/kernel';
import { orRefusal, type Page, pageNotFound, refusal } from '../../../../lib/forms/index.ts';
import { address, type Html, html, plural } from '../../../../lib/html/index.ts';
import { note } from '../../../../lib/widgets/index.ts';
import type { ReviewPages, ReviewRequest } from '../../core/review.ts';
import { claimsPart, ranOnBoth, resultPart } from './shown-results.ts';
import type { SkillEvidence } from './types.ts';

export const evidencePages: ReviewPages = {
  get: { '/skills/:id/evidence': (request) => show(request) },
  post: {
    '/skills/:id/evidence'(request) {
      const { id, registry } = request;
      const work = registry.admin.evaluate(id).then(() => address('skills', id, 'evidence'));
      return request.decide(work, (refused) => show(request, refused));
    },
  },
  tabs: [{ path: '/evidence', text: 'Evidence' }],
  parts: [
    {
      page: '/proposals/:id',
      async show({ id, registry }) {
        const { refused, value } = await orRefusal(registry.admin.proposalEvidence(id));
        return refused ? html`<p class="quiet">Not run: ${refused.message}</p>` : ranOnBoth(value);
      },
    },
  ],
};

// --- internal ---

async function show(request: ReviewRequest, refused?: CodedError): Promise<Page> {
  const { id, registry, skill } = request;
  if (!skill) throw pageNotFound();
  const evidence = await registry.admin.evidence(id);
  const main = html`${request.skillHead('/evidence')}
${refusal(refused, 'run')}
<h2>What the registry ran</h2>
${results(evidence)}
${evidence.heldBecause === null ? request.form(address('skills', id, 'evidence'), html`<button>Run what needs no model</button>`) : html`<p>It is held, so nothing of it is run.</p>`}
${claimsPart(evidence.claims)}
<h2>Test cases</h2>
${suite(evidence)}
${await request.partsOf('/skills/:id/evidence', skill.id)}`;
  return { title: `Evidence of ${skill.id}`, at: '/catalog', main, status: refused ? 409 : 200 };
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
