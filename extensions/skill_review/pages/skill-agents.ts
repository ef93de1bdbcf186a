import { hiddenField, invalidArgument, type Page, pageNotFound } from '../../../lib/forms/index.ts';
import { address, html } from '../../../lib/html/index.ts';
import { table } from '../../../lib/widgets/index.ts';
import type { CorePages, CoreRequest } from '../review.ts';

export const skillAgentsPages: CorePages = {
  get: { '/skills/:id/agents': show },
  post: {
    async '/skills/:id/agents/:action{on|off}'(request) {
      const { actor, agents, field, id, param, registry } = request;
      const [agent, isOff] = [field('agent'), param('action') === 'off'];
      const isKnown = (await agents()).some(({ agentId }) => agentId === agent);
      if (isOff && !isKnown) throw invalidArgument(`There is no agent ${JSON.stringify(agent)} here.`);
      await registry.admin.setDisabled({ skill: id, agent }, isOff, actor);
      await request.changed();
      return { redirect: address('skills', id, 'agents') };
    },
  },
};

// --- internal ---

async function show(request: CoreRequest): Promise<Page> {
  const { form, id, registry, skill } = request;
  const seen = (await registry.admin.whoSees(await request.agents())).find(
    (one) => one.skill.qualifiedId === skill?.qualifiedId,
  );
  if (!skill || !seen) throw pageNotFound();
  const rows = seen.views.map(({ agent, because }) => {
    const isOff = agent !== null && Array.isArray(skill.disabledFor) && skill.disabledFor.includes(agent);
    const [to, verb] = isOff ? ['on', 'Enable'] : ['off', 'Disable'];
    const button = html`${hiddenField('agent', agent ?? '')}<button class="small" aria-label="${verb} for ${agent}">${verb}</button>`;
    // The catalog has the switch for everyone.
    const isFixed = agent === null || skill.disabledFor === 'everyone';
    const cell = isFixed ? '' : form(address('skills', id, 'agents', to), button);
    return [agent ?? 'any other agent', because === undefined ? 'yes' : 'no', because ?? '', cell];
  });
  const main = html`${request.skillHead('/agents')}
<h2>Who is shown it</h2>
${table('Who is shown it', ['Agent', 'Shown', 'Because', ''], rows)}
<p class="quiet">Any other agent is one without skills of its own, such as a client of MCP.</p>`;
  return { title: `Who is shown ${id}`, at: '/catalog', main };
}
