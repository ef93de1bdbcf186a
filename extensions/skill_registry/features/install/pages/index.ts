import { isCodedError } from 'skill-registry/kernel';
import { hiddenField, reasonField, shownChanged } from '../../../../../lib/forms/index.ts';
import { address, type Html, html } from '../../../../../lib/html/index.ts';
import type { ReviewPages, ReviewRequest } from '../../../core/review.ts';
import type { LockedSkill } from '../types.ts';
import { decideSource, sourcesPart } from './sources.ts';
import { updatePages } from './updates.ts';

export function installPages(): ReviewPages {
  const { get, post, inbox } = updatePages();
  return {
    get,
    post: {
      ...post,
      '/decisions/source/:action{allow|revoke}': decideSource,
      '/skills/:id/remove': (request) => request.decide(remove(request), request.skillPage),
    },
    inbox,
    decisions: sourcesPart,
    skillFacts: async (request) => [['Origin', await originOf(request).catch(nothingKnown)]],
    parts: [{ page: '/skills/:id', show: async (request) => removeForm(request) }],
  };
}

// --- internal ---

async function remove({ actor, field, id, registry, skill }: ReviewRequest): Promise<string> {
  if (skill?.digest !== field('digest')) throw shownChanged(`The skill "${id}"`);
  await registry.origin.remove(id, actor);
  return address('skills', id, 'history');
}

async function originOf({ registry, skill }: ReviewRequest): Promise<string> {
  const locked = (await registry.origin.verify()).find((one) => one.id === skill?.id);
  if (!locked) return '';
  return `${locked.source}: ${STATES[locked.state]}${locked.reason === undefined ? '' : `, ${locked.reason}`}`;
}

const STATES: Readonly<Record<LockedSkill['state'], string>> = {
  same: 'as it was installed',
  drifted: 'changed here since it was installed',
  absent: 'not here',
  broken: 'its entry in the lock is broken',
};

function nothingKnown(error: unknown): string {
  if (isCodedError(error)) return '';
  throw error;
}

function removeForm({ form, id, skill }: ReviewRequest): Html {
  return html`<details><summary>Remove it</summary>${form(
    address('skills', id, 'remove'),
    html`${hiddenField('digest', skill?.digest ?? '')}<p>Its folder is archived, and its lock entry is deleted. The skill can be restored.</p>
${reasonField('why-removed', 'Why it is removed')}
<div class="actions"><button>Remove it</button></div>`,
  )}</details>`;
}
