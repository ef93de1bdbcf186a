import type { SkillRegistry } from './api.ts';
import { assertOpen, meaningOf, type Parts } from './parts.ts';
import { givenSkills } from './show/scope.ts';
import type { TurnText, TurnTextOptions } from './show/turn-text.ts';
import type { Skill } from './skill/skill.ts';

export function contextOf(parts: Parts): SkillRegistry['context'] {
  const { catalog, config, events, opened, reading, scopes, searcher, sentBodies, visible } = parts;
  const onShown: TurnTextOptions['onShown'] = (listed, bodies, turn) => {
    events.emit('offered', listed, turn);
    for (const [skill, tokens] of bodies) events.emit('given', skill, tokens, turn);
  };
  let turnText: Promise<TurnText> | undefined;
  // These modules take as long to load as a hundred skills, and most commands need none.
  const loadTurnText = (): Promise<TurnText> => {
    turnText ??= import('./show/turn-text.ts').then(({ createTurnText }) =>
      createTurnText({ config, searcher, meaning: meaningOf(parts), sentBodies, onShown }),
    );
    return turnText;
  };
  return async (prompt, turn = {}) => {
    assertOpen(parts);
    const read = new Map<Skill, Promise<string | undefined>>();
    const body = (skill: Skill): Promise<string | undefined> => {
      const text = read.get(skill) ?? reading.bodyForPrompt(skill);
      read.set(skill, text);
      return text;
    };
    // First, because a skill found to be held must not be listed either.
    for (const skill of visible(turn)) if (skill.preload) await body(skill);
    // Before the modules load: the text shows the skills at the time of the call.
    const given = givenSkills(catalog.snapshot(), turn);
    const seen = { skills: visible(turn), narrowed: scopes.narrowed(turn)?.key, given, body };
    const added = opened.flatMap(({ turns }) => turns?.text(turn) ?? []);
    const text = await (await loadTurnText())(seen, prompt, turn);
    return added.length > 0 ? [text ?? [], added].flat().join('\n\n') : text;
  };
}
