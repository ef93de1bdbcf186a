import { type CodedError, isCodedError } from 'skill-registry/kernel';
import type { Skill, SkillRegistry, SkillTrust } from '../../skill_registry/api.ts';
import { shownChanged } from '../errors.ts';
import { actorOf, assertIdTyped, decision, fieldsOf, isRefused, orRefusal } from '../forms.ts';
import { type Html, html, type Piece } from '../html/html.ts';
import { page } from '../html/layout.ts';
import { MAX_RENDERED, markdownToHtml } from '../html/markdown.ts';
import {
  findings,
  form,
  formatNumber,
  hiddenField,
  idField,
  note,
  reasonField,
  refusal,
  skillAddress,
} from '../html/parts.ts';
import type { Review, ReviewApp, ReviewContext } from '../review.ts';
import { heldMark, readMarked, skillHead, skillOf } from './skill-parts.ts';

export function addSkill(app: ReviewApp, review: Review): void {
  const { registry } = review;
  const { admin } = registry;

  app.get('/skills/:id', (context) =>
    show(context, review, context.req.param('id'), { done: DONE.get(context.req.query('done') ?? '') }),
  );

  app.post('/skills/:id/trust', async (context) => {
    const id = context.req.param('id');
    const fields = await fieldsOf(context);
    const action = fields.text('action') === 'allow' ? 'allow' : 'revoke';
    const made = { ...actorOf(review, fields.optional('reason')), digest: fields.text('digest') };
    const decide = async (): Promise<string> => {
      const { skillId, findings: found } = await admin.trustOf(id);
      if (action === 'allow') assertIdTyped(skillId, found, fields.optional('typed_id'));
      await admin.decideTrust(action, id, made);
      return `${skillAddress(id)}?done=${action}`;
    };
    return decision(context, review, decide(), (refused) => show(context, review, id, { refused }));
  });

  app.post('/skills/:id/disabled', async (context) => {
    const id = context.req.param('id');
    const isDisabled = (await fieldsOf(context)).text('disabled') === 'yes';
    const done = `${skillAddress(id)}?done=${isDisabled ? 'disabled' : 'enabled'}`;
    const work = admin.setDisabled({ skill: id }, isDisabled, actorOf(review)).then(() => done);
    return decision(context, review, work, (refused) => show(context, review, id, { refused }));
  });

  app.post('/skills/:id/remove', async (context) => {
    const id = context.req.param('id');
    const fields = await fieldsOf(context);
    const remove = async (): Promise<string> => {
      if (skillOf(registry.snapshot(), id)?.digest !== fields.text('digest')) throw shownChanged(`The skill "${id}"`);
      await registry.origin.remove(id, actorOf(review, fields.optional('reason')));
      return `${skillAddress(id)}/history`;
    };
    return decision(context, review, remove(), (refused) => show(context, review, id, { refused }));
  });
}

// --- internal ---

type LockedSkill = Awaited<ReturnType<SkillRegistry['origin']['verify']>>[number];

const DONE: ReadonlyMap<string, string> = new Map([
  ['allow', 'Allowed. Agents are given it from now on.'],
  ['revoke', 'Revoked. No agent is given it from now on.'],
  ['disabled', 'Disabled. No agent is given it from now on; its files stay.'],
  ['enabled', 'Enabled. Agents are given it again.'],
  ['rollback', 'Rolled back. It has this text from now on.'],
  ['restored', 'Restored. It is in the catalog again.'],
]);

async function show(
  context: ReviewContext,
  review: Review,
  id: string,
  { done, refused }: { readonly done?: string | undefined; readonly refused?: CodedError },
): Promise<Response> {
  const { registry } = review;
  const skill = skillOf(registry.snapshot(), id);
  // A removed skill has only a history.
  if (!skill) return context.redirect(`${skillAddress(id)}/history`);
  const trust = await ifKnown(registry.admin.trustOf(id));
  const locked = (await ifKnown(registry.origin.verify()))?.find((one) => one.id === skill.id);
  const tokens = (await registry.admin.tokenCounts({ atMost: MAX_COUNTED })).get(skill.id);
  const main = html`${skillHead(id, skill, 'instructions')}
${refusal(refused, 'decided')}
${done === undefined ? '' : note(html`<p>${done}</p>`)}
${trust ? trustPart(context, id, trust) : ''}
${await instructions(review, id, skill, trust?.heldBecause ?? undefined)}
<h2>About it</h2>
${facts(skill, locked, tokens)}
${onOff(context, id, skill)}
${remove(context, id, skill)}`;
  return context.html(page(context, review, { title: skill.id, at: 'catalog', main }), refused ? 409 : 200);
}

/** With more uncounted skills this page counts no tokens. */
const MAX_COUNTED = 50;

async function ifKnown<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (isCodedError(error)) return undefined;
    throw error;
  });
}

function trustPart(context: ReviewContext, id: string, trust: SkillTrust): Html | '' {
  const { skillId, digest, origin, heldBecause, allowed, verdict } = trust;
  const isAttack = verdict === 'block';
  const found = trust.findings.filter(({ level }) => level !== 'info');
  const action = `${skillAddress(id)}/trust`;
  const list =
    found.length === 0
      ? ''
      : html`<details${isAttack ? html` open` : ''}><summary>${found.length} found by inspection</summary>${findings(found)}</details>`;
  const reason = reasonField('why');
  if (heldBecause !== null) {
    const scope =
      origin === 'own'
        ? 'Allowing counts for these findings in this folder, so the skill can still be edited; a new finding holds it again.'
        : 'Allowing counts for exactly these bytes, in any folder; when a byte changes, the skill is held again.';
    const allow = form(
      context,
      action,
      html`${hiddenField('action', 'allow')}${hiddenField('digest', digest)}${isAttack ? idField('To allow it', skillId) : ''}${reason}
<div class="actions">${isAttack ? html`<button>Allow</button>` : html`<button class="main">Allow</button>`}</div>`,
    );
    return note(
      html`<h2 class="inside">Held: no agent is given it</h2><p>${heldBecause}</p>${list}
<p>Agents follow what a skill says. ${scope}</p>${allow}`,
      'block',
    );
  }
  const revoke = form(
    context,
    action,
    html`${hiddenField('action', 'revoke')}${hiddenField('digest', digest)}${reason}<div class="actions"><button>Hold it again</button></div>`,
  );
  return html`${allowed ? html`<details><summary>A person has allowed what was found in it</summary>${revoke}</details>` : ''}${list}`;
}

/** Shows the frontmatter as text and renders the body. @param said - The reason that the page shows above. */
async function instructions(
  { registry, markdown }: Review,
  id: string,
  skill: Skill,
  said: string | undefined,
): Promise<Html> {
  if (skill.remote) return html`<p>Its files lie on another machine, and are fetched when an agent reads it.</p>`;
  const read = await orRefusal(readMarked(registry, id));
  if (isRefused(read)) return note(html`<p>${read.refused.message}</p>`, 'warn');
  const text = read.text.toString('utf8');
  const [whole = '', head] =
    /^\ufeff?---[^\S\n]*\n([\s\S]{0,65536}?)\n---[^\S\n]*(?:\n|$)/.exec(text.replace(/\r\n?/g, '\n')) ?? [];
  const body = text.replace(/\r\n?/g, '\n').slice(whole.length);
  const raw = `${skillAddress(id)}/text`;
  const rest =
    body.length > MAX_RENDERED
      ? note(
          html`<p>Only the first ${formatNumber(MAX_RENDERED)} of ${formatNumber(body.length)} characters are shown.</p>`,
          'warn',
        )
      : '';
  return html`${head === undefined ? '' : html`<details><summary>Frontmatter</summary><pre class="wrapped">${head}</pre></details>`}
<h2 class="unseen">Instructions</h2>
${read.heldBecause === said ? '' : heldMark(read.heldBecause)}
${rest}
${await markdownToHtml(markdown, body)}
<p class="quiet"><a href="${raw}">SKILL.md as text</a></p>`;
}

function facts(
  skill: Skill,
  locked: LockedSkill | undefined,
  tokens: { readonly l1?: number | null; readonly l2?: number | null } | undefined,
): Html {
  const rows: readonly (readonly [string, Piece])[] = [
    ['Source', skill.source],
    ['File', html`<code>${skill.file}</code>`],
    ['Digest', html`<code>${skill.digest}</code>`],
    ['Tokens', tokens === undefined ? '' : `${tokens.l1 ?? '?'} in the catalog, ${tokens.l2 ?? '?'} when it is read`],
    ['Tags', skill.tags.join(', ')],
    ['Requires', skill.requires.join(', ')],
    ['Allowed tools', skill.allowedTools.join(', ')],
    ['Version', skill.version ?? ''],
    ['Author', skill.author ?? ''],
    ['License', skill.license ?? ''],
    [
      'Origin',
      locked === undefined
        ? ''
        : `${locked.source}: ${ORIGIN_STATES[locked.state]}${locked.reason === undefined ? '' : `, ${locked.reason}`}`,
    ],
    ['Hidden because', skill.hiddenBecause ?? ''],
    [
      'Disabled for',
      skill.disabledFor === undefined
        ? ''
        : skill.disabledFor === 'everyone'
          ? 'every agent'
          : skill.disabledFor.join(', '),
    ],
  ];
  const shown = rows.filter(([, value]) => value !== '');
  return html`<dl class="facts">${shown.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

const ORIGIN_STATES: Readonly<Record<LockedSkill['state'], string>> = {
  same: 'as it was installed',
  drifted: 'changed here since it was installed',
  absent: 'not here',
  broken: 'its entry in the lock is broken',
};

function onOff(context: ReviewContext, id: string, { disabledFor }: Skill): Html {
  const isOff = disabledFor !== undefined;
  return form(
    context,
    `${skillAddress(id)}/disabled`,
    html`${hiddenField('disabled', isOff ? 'no' : 'yes')}<div class="actions"><button>${isOff ? 'Enable it' : 'Disable it'}</button>
<span class="quiet">${isOff ? 'Agents are given it again.' : 'No agent is given it, and its files stay.'}</span></div>`,
  );
}

function remove(context: ReviewContext, id: string, { digest }: Skill): Html {
  return html`<details><summary>Remove it</summary>${form(
    context,
    `${skillAddress(id)}/remove`,
    html`${hiddenField('digest', digest)}<p>Its folder is archived, and its lock entry is deleted. The skill can be restored.</p>
${reasonField('why-removed', 'Why it is removed')}
<div class="actions"><button>Remove it</button></div>`,
  )}</details>`;
}
