import { heldOfRoot } from '../../../kernel/host.ts';
import { decideForm, type Page } from '../../../lib/forms/index.ts';
import { formatTime, type Html, html, plural } from '../../../lib/html/index.ts';
import { type Decision, describeSubject, openTrust } from '../../../lib/trust/index.ts';
import { note, table } from '../../../lib/widgets/index.ts';
import type { CorePages, CoreRequest } from '../review.ts';

export const decisionPages: CorePages = {
  get: { '/decisions': show },
  post: {
    async '/decisions/root/:action{allow|revoke}'({ actor, changed, param, root }) {
      const action = param('action') === 'allow' ? 'allow' : 'revoke';
      openTrust().decide({ kind: 'root', path: root, action, ...actor });
      await changed();
      return { redirect: '/decisions' };
    },
  },
};

// --- internal ---

/** The newest are shown. */
const MAX_SHOWN = 200;

async function show(request: CoreRequest): Promise<Page> {
  const trust = openTrust();
  const trouble = trust.trouble();
  const decisions = [...trust.decisions()].reverse();
  const parts = await Promise.all(request.features.map((one) => one.decisions?.(request)));
  const main = html`<h1>Decisions</h1>
${trouble === undefined ? '' : note(html`<p>The decisions of this user are ignored: ${trouble}</p>`, 'block')}
<h2>This root</h2>
${rootPart(request, trust.allows('root', request.root))}
${parts}
<h2>What was decided on this machine</h2>
${decisions.length === 0 ? html`<p class="empty">Nothing yet.</p>` : decisionTable(decisions.slice(0, MAX_SHOWN))}
${decisions.length > MAX_SHOWN ? html`<p class="quiet">The newest ${MAX_SHOWN} of ${plural(decisions.length, 'decision')}; skill-registry approvals list has all.</p>` : ''}`;
  return { title: 'Decisions', at: '/decisions', main };
}

function rootPart({ form, root }: CoreRequest, isAllowed: boolean): Html {
  const held = isAllowed ? [] : heldOfRoot(root);
  const what = isAllowed
    ? 'Approved: its extensions, packages, addresses and .env take effect.'
    : 'Not approved: its extensions, packages, addresses and .env have no effect.';
  const wouldTake =
    held.length > 0 ? html`<p>When the root is approved, this takes effect: ${held.join('; ')}</p>` : '';
  return html`<p><code>${root}</code></p><p>${what}</p>${wouldTake}
${form(`/decisions/root/${isAllowed ? 'revoke' : 'allow'}`, decideForm(isAllowed ? 'Revoke this root' : 'Approve this root', 'root', 'this root'))}
<p class="quiet">What runs now uses this after its next start.</p>`;
}

function decisionTable(decisions: readonly Decision[]): Html {
  const rows = decisions.map((one) => {
    const { action, at, by, path, reason = '' } = one;
    return [ACTIONS[action], describeSubject(one), formatTime(at), by, path, reason];
  });
  return table('Decisions', ['Decision', 'What', 'When, UTC', 'Who', 'Where', 'Why'], rows);
}

const ACTIONS: Readonly<Record<Decision['action'], string>> = { allow: 'allowed', revoke: 'revoked' };
