import { invalidArgument, pageNotFound } from '../errors.ts';
import { actorOf, fieldsOf } from '../forms.ts';
import { html } from '../html/html.ts';
import { page } from '../html/layout.ts';
import { form, hiddenField, skillAddress, table } from '../html/parts.ts';
import type { Review, ReviewApp } from '../review.ts';
import { skillHead, skillOf } from './skill-parts.ts';

export function addSkillAgents(app: ReviewApp, review: Review): void {
  const { admin, snapshot } = review.registry;

  app.get('/skills/:id/agents', async (context) => {
    const id = context.req.param('id');
    const skill = skillOf(snapshot(), id);
    const seen = (await admin.whoSees(await review.agents())).find(
      (one) => one.skill.qualifiedId === skill?.qualifiedId,
    );
    if (!skill || !seen) throw pageNotFound();
    const rows = seen.views.map(({ agent, because }) => {
      const isOff = agent !== null && Array.isArray(skill.disabledFor) && skill.disabledFor.includes(agent);
      // The catalog has the switch for everyone.
      const button =
        agent === null || skill.disabledFor === 'everyone'
          ? ''
          : form(
              context,
              `${skillAddress(id)}/agents/${isOff ? 'on' : 'off'}`,
              html`${hiddenField('agent', agent)}<button class="small" aria-label="Turn ${isOff ? 'on' : 'off'} for ${agent}">Turn ${isOff ? 'on' : 'off'}</button>`,
            );
      return [agent ?? 'any other agent', because === undefined ? 'yes' : 'no', because ?? '', button];
    });
    const main = html`${skillHead(id, skill, 'agents')}
<h2>Who sees it</h2>
${table('Who sees it', ['Agent', 'Sees it', 'Because', ''], rows)}
<p class="quiet">Any other agent is one without skills of its own, such as a client of MCP.</p>`;
    return context.html(page(context, review, { title: `Who sees ${id}`, at: 'catalog', main }));
  });

  app.post('/skills/:id/agents/:action{on|off}', async (context) => {
    const { id, action } = context.req.param();
    const agent = (await fieldsOf(context)).text('agent');
    const isKnown = (await review.agents()).some(({ agentId }) => agentId === agent);
    if (action === 'off' && !isKnown) throw invalidArgument(`There is no agent ${JSON.stringify(agent)} here.`);
    await admin.setDisabled({ skill: id, agent }, action === 'off', actorOf(review));
    review.changed();
    return context.redirect(`${skillAddress(id)}/agents`, 303);
  });
}
