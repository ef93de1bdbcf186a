import { invalidArgument, orRefusal } from '../../lib/forms/index.ts';
import { html } from '../../lib/html/index.ts';
import { showSkill } from './pages/skill.ts';
import { skillHead } from './pages/skill-parts.ts';
import type { CoreRequest, Review, ReviewContext } from './review.ts';

export async function requestOf(context: ReviewContext, review: Review): Promise<CoreRequest> {
  const { req } = context;
  const body = req.method === 'POST' ? await req.parseBody({ all: true }) : {};
  const fieldOf = (name: string): string | undefined => {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const optional = (name: string): string | undefined => fieldOf(name)?.trim() || undefined;
  const reason = optional('reason');
  const request: CoreRequest = {
    ...review,
    path: req.path,
    id: req.param('id') ?? '',
    get skill() {
      const { byId, byQualifiedId, builtIn } = review.registry.snapshot();
      return byId.get(request.id) ?? byQualifiedId.get(request.id) ?? builtIn.get(request.id);
    },
    param: (name) => req.param(name) ?? '',
    query: (name) => req.query(name),
    field(name) {
      const value = fieldOf(name);
      if (value === undefined) throw invalidArgument(`The form has no "${name}". Reload the page and try again.`);
      return value;
    },
    optional,
    all: (name) =>
      [Object.hasOwn(body, name) ? (body[name] ?? []) : []].flat().filter((one) => typeof one === 'string'),
    actor: { by: context.get('by'), reason: reason === undefined ? DOOR : `${reason} (${DOOR})` },
    form: (action, content, attributes) => html`<form method="post" action="${action}"${attributes}>
<input type="hidden" name="csrf" value="${context.get('csrf')}">
${content}
</form>`,
    async decide(work, again) {
      const { refused, value } = await orRefusal(work);
      if (refused) return again(refused);
      await review.changed();
      return { redirect: value };
    },
    skillHead: (tab) => skillHead(request, tab),
    skillPage: (refused) => showSkill(request, refused),
    partsOf: (page, skillId) => {
      const parts = review.features.flatMap((feature) => feature.parts ?? []).filter((part) => part.page === page);
      return Promise.all(parts.map((part) => part.show(request, skillId)));
    },
  };
  return request;
}

// --- internal ---

const DOOR = 'review page';
