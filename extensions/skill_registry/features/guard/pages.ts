import { isCodedError } from 'skill-registry/kernel';
import { hiddenField, reasonField } from '../../../../lib/forms/index.ts';
import { address, type Html, html, type Piece, plural } from '../../../../lib/html/index.ts';
import { levelTag, note } from '../../../../lib/widgets/index.ts';
import type { ReviewPages, ReviewRequest } from '../../core/review.ts';
import { RULED_OUT } from '../../core/skill/why-held.ts';
import { countOf, heldForPerson } from './by-risk.ts';
import { assertIdTyped, findings, idField } from './shown-findings.ts';
import { reachLines } from './shown-reach.ts';
import type { SkillTrust } from './types.ts';

export const guardPages: ReviewPages = {
  post: {
    '/skills/:id/trust'(request) {
      const action = request.field('action') === 'allow' ? 'allow' : 'revoke';
      return request.decide(decide(request, action, request.field('digest')), request.skillPage);
    },
  },
  async aboveSkill(request) {
    const trust = await trustOf(request);
    return { main: trust && trustPart(request, trust), heldBecause: trust?.heldBecause };
  },
  async skillCard({ registry }, id) {
    // A catalog is shown whatever is wrong with one skill.
    const trust = await registry.admin.trustOf(id).catch(() => undefined);
    return { tags: trust && levelTags(trust), source: trust?.origin === 'brought-in' ? ', brought in' : '' };
  },
  fileRemarks: async (request) => (await trustOf(request))?.findings ?? [],
  done: {
    allow: 'Allowed. Agents are given it from now on.',
    revoke: 'Held again. No agent is given it from now on.',
  },
  async inbox({ registry: { admin, snapshot } }) {
    const held = await heldForPerson(snapshot().byQualifiedId.values(), (one) => admin.trustOf(one.qualifiedId));
    return { title: 'Held skills', items: held.map(heldItem) };
  },
};

// --- internal ---

async function decide(
  { actor, id, optional, registry: { admin } }: ReviewRequest,
  action: 'allow' | 'revoke',
  digest: string,
): Promise<string> {
  const { skillId, findings: found } = await admin.trustOf(id);
  if (action === 'allow') assertIdTyped(skillId, found, optional('typed_id'));
  await admin.decideTrust(action, id, { ...actor, digest });
  return `${address('skills', id)}?done=${action}`;
}

/** Undefined when it cannot be inspected, or is removed meanwhile. */
function trustOf({ registry, id }: ReviewRequest): Promise<SkillTrust | undefined> {
  return registry.admin.trustOf(id).catch((error: unknown) => {
    if (isCodedError(error)) return undefined;
    throw error;
  });
}

function levelTags({ findings: found }: SkillTrust): Piece {
  return (['block', 'warn'] as const).map((level) => {
    const many = countOf(found, level);
    return many > 0 && html`${levelTag(level)}<span class="quiet"> ${many}</span>`;
  });
}

function heldItem({ skillId, qualifiedId, heldBecause, findings: found }: SkillTrust): Html {
  return html`<li class="card">
<p class="line"><a class="title" href="${address('skills', qualifiedId)}">${skillId}</a> ${levelTag('block')}</p>
<p>${heldBecause}</p>
<p class="quiet">No agent is given it; ${plural(countOf(found, 'block'), 'finding')}</p>
</li>`;
}

function trustPart(request: ReviewRequest, trust: SkillTrust): Html {
  const { skillId, digest, origin, heldBecause, allowed, verdict } = trust;
  const isAttack = verdict === 'block';
  const found = trust.findings.filter(({ level }) => level !== 'info');
  const list =
    found.length > 0 &&
    html`<details${isAttack ? html` open` : ''}><summary>${found.length} found by inspection</summary>${findings(found)}</details>`;
  const formFor = (action: 'allow' | 'revoke', typed: Piece, button: Html): Html =>
    request.form(
      address('skills', request.id, 'trust'),
      html`${hiddenField('action', action)}${hiddenField('digest', digest)}${typed}${reasonField('why')}<div class="actions">${button}</div>`,
    );
  const reached = reachLines(trust.reach);
  const reach =
    reached.length > 0 &&
    html`<details><summary>What it reaches</summary><ul>${reached.map((line) => html`<li>${line}</li>`)}</ul></details>`;
  if (heldBecause === null) {
    const revoke = formFor('revoke', '', html`<button>Hold it again</button>`);
    return html`${allowed && html`<details><summary>A person has allowed what was found in it</summary>${revoke}</details>`}${list}${reach}`;
  }
  const scope =
    origin === 'own'
      ? 'Allowing counts for these findings in this folder, so the skill can still be edited; a new finding holds it again.'
      : 'Allowing counts for exactly these bytes, in any folder; when a byte changes, the skill is held again.';
  if (heldBecause.startsWith(RULED_OUT))
    return note(
      html`<h2 class="inside">Held: no agent is given it</h2><p>${heldBecause}</p>${list}${reach}<p>No approval here ends that.</p>`,
      'block',
    );
  const typed = isAttack && idField('To allow it', skillId);
  const allow = formFor('allow', typed, html`<button${isAttack ? '' : html` class="main"`}>Allow</button>`);
  return note(
    html`<h2 class="inside">Held: no agent is given it</h2><p>${heldBecause}</p>${list}${reach}
<p>Agents follow what a skill says. ${scope}</p>${allow}`,
    'block',
  );
}
