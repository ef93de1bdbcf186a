import type { CodedError } from 'skill-registry/kernel';
import { type Answer, hiddenField, orRefusal, pageNotFound, refusal } from '../../../lib/forms/index.ts';
import {
  address,
  formatNumber,
  type Html,
  html,
  MAX_RENDERED,
  markdownToHtml,
  type Piece,
} from '../../../lib/html/index.ts';
import { factList, note } from '../../../lib/widgets/index.ts';
import type { Skill, TokenCounts } from '../../skill_registry/api.ts';
import type { CorePages, CoreRequest } from '../review.ts';
import { heldMark, readMarked, tabsOf } from './skill-parts.ts';

export const skillPages: CorePages = {
  get: { '/skills/:id': (request) => showSkill(request) },
  post: {
    '/skills/:id/disabled'(request) {
      const { actor, id, registry } = request;
      const isDisabled = request.field('disabled') === 'yes';
      const done = `${address('skills', id)}?done=${isDisabled ? 'disabled' : 'enabled'}`;
      const work = registry.admin.setDisabled({ skill: id }, isDisabled, actor).then(() => done);
      return request.decide(work, request.skillPage);
    },
  },
};

export async function showSkill(request: CoreRequest, refused?: CodedError): Promise<Answer> {
  const { features, id, registry, skill } = request;
  if (!skill) {
    const [tab] = tabsOf(request, false);
    if (!tab) throw pageNotFound();
    return { redirect: `${address('skills', id)}${tab.path}` };
  }
  const above = (await Promise.all(features.map((one) => one.aboveSkill?.(request) ?? []))).flat();
  const more = (await Promise.all(features.map((one) => one.skillFacts?.(request) ?? []))).flat();
  const tokens = (await registry.admin.tokenCounts({ atMost: MAX_COUNTED })).get(skill.id);
  const messages = new Map([{ done: DONE }, ...features].flatMap(({ done = {} }) => Object.entries(done)));
  const done = messages.get(request.query('done') ?? '');
  const said = above.flatMap(({ heldBecause }) => heldBecause ?? []);
  const main = html`${request.skillHead('')}
${refusal(refused, 'decided')}
${done === undefined || refused ? '' : note(html`<p>${done}</p>`)}
${above.map((one) => one.main)}
${await instructions(request, skill, said)}
<h2>About it</h2>
${facts(skill, more, tokens)}
${request.isOfTeam ? '' : onOff(request, skill)}
${await request.partsOf('/skills/:id', id)}`;
  return { title: skill.id, at: '/catalog', main, status: refused ? 409 : 200 };
}

// --- internal ---

/** With more uncounted skills this page counts no tokens. */
const MAX_COUNTED = 50;

const DONE = {
  disabled: 'Disabled. No agent is given it from now on; its files stay.',
  enabled: 'Enabled. Agents are given it again.',
};

/** Shows the frontmatter as text and renders the body. @param said - What the page says above. */
async function instructions(request: CoreRequest, skill: Skill, said: readonly string[]): Promise<Html> {
  if (skill.remote === 'until-read')
    return html`<p>Its files come when it is read, by an agent or with <code>skill-registry show ${skill.qualifiedId}</code>.</p>`;
  if (skill.remote) return html`<p>Its files lie on another machine, and are fetched when an agent reads it.</p>`;
  const { refused, value: read } = await orRefusal(readMarked(request));
  if (refused) return note(html`<p>${refused.message}</p>`, 'warn');
  const text = read.text.toString('utf8').replace(/\r\n?/g, '\n');
  const [whole = '', head] = /^\ufeff?---[^\S\n]*\n([\s\S]{0,65536}?)\n---[^\S\n]*(?:\n|$)/.exec(text) ?? [];
  const body = text.slice(whole.length);
  const cut = `Only the first ${formatNumber(MAX_RENDERED)} of ${formatNumber(body.length)} characters are shown.`;
  return html`${head === undefined ? '' : html`<details><summary>Frontmatter</summary><pre class="wrapped">${head}</pre></details>`}
<h2 class="unseen">Instructions</h2>
${said.some((one) => one === read.heldBecause) ? '' : heldMark(read.heldBecause)}
${body.length > MAX_RENDERED ? note(html`<p>${cut}</p>`, 'warn') : ''}
${await markdownToHtml(request.markdown, body)}
<p class="quiet"><a href="${address('skills', request.id, 'text')}">SKILL.md as text</a></p>`;
}

function facts(skill: Skill, more: readonly (readonly [string, Piece])[], tokens: TokenCounts | undefined): Html {
  return factList([
    ['Source', skill.source],
    ['File', html`<code>${skill.file}</code>`],
    ['Digest', html`<code>${skill.digest}</code>`],
    ['Tokens', tokens === undefined ? '' : `${tokens.l1 ?? '?'} in its line, ${tokens.l2 ?? '?'} in its body`],
    ['Tags', skill.tags.join(', ')],
    ['Paths', skill.paths.join(', ')],
    ['Requires', skill.requires.join(', ')],
    ['Allowed tools', skill.allowedTools.join(', ')],
    ['Version', skill.version ?? ''],
    ['Author', skill.author ?? ''],
    ['License', skill.license ?? ''],
    ...more,
    ['Hidden because', skill.hiddenBecause ?? ''],
    ['Disabled for', skill.disabledFor === 'everyone' ? 'every agent' : (skill.disabledFor?.join(', ') ?? '')],
  ]);
}

function onOff({ form, id }: CoreRequest, { disabledFor }: Skill): Html {
  const isOff = disabledFor !== undefined;
  return form(
    address('skills', id, 'disabled'),
    html`${hiddenField('disabled', isOff ? 'no' : 'yes')}<div class="actions"><button>${isOff ? 'Enable it' : 'Disable it'}</button>
<span class="quiet">${isOff ? 'Agents are given it again.' : 'No agent is given it, and its files stay.'}</span></div>`,
  );
}
