import type { TurnContext } from 'skill-registry/kernel';
import { RecentMap } from '../../../../../lib/recent-map/index.ts';
import { nearestIds, shorten, withoutHidden } from '../../../../../lib/text/index.ts';
import type { Pack, Snapshot } from '../../../core/catalog/snapshot.ts';
import type { Narrowed } from '../../../core/show/visible.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { isNone, matchesExpression } from '../pack-expression.ts';
import type { WorkflowPosition, Workflows } from './types.ts';

/** The end of a conversation is not reported: those that were not used for longest are removed. */
const MAX_CONVERSATIONS = 10_000;
const MAX_EVENTS = 12;
const MAX_NAME = 60;

export function createWorkflows(snapshot: () => Snapshot): Workflows {
  const conversations = new RecentMap<string, Conversation>(MAX_CONVERSATIONS);
  const conversationOf = (turn: TurnContext): Conversation => {
    const key = keyOf(turn);
    const conversation = conversations.get(key) ?? { states: new Map() };
    conversations.set(key, conversation);
    return conversation;
  };
  const packNamed = (name: string): Pack | undefined => {
    const pack = snapshot().packs.get(name);
    return pack && pack.scopes.states.size > 0 ? pack : undefined;
  };

  const workflows: Workflows = {
    at(turn) {
      const conversation = turn.threadId === undefined ? undefined : conversations.get(keyOf(turn));
      // The workflow of an agent's manifest, or of a caller, comes before the one that a person has chosen.
      const pack = turn.workflowState?.pack ?? conversation?.chosen;
      if (!conversation || pack === undefined) return turn;
      // This lookup keeps the conversation in the map: without its state more skills would be seen.
      const state = conversationOf(turn).states.get(pack);
      return state === undefined
        ? { ...turn, workflowState: turn.workflowState ?? { pack } }
        : { ...turn, workflowState: { pack, state } };
    },

    position(turn) {
      const { workflowState } = workflows.at(turn);
      const scopes = workflowState && packNamed(workflowState.pack)?.scopes;
      const state = workflowState?.state ?? scopes?.entry;
      if (!scopes || state === undefined || !scopes.states.has(state)) return undefined;
      const events = scopes.events.get(state) ?? new Map();
      return { pack: workflowState.pack, state, events, states: [...scopes.states.keys()] };
    },

    enter(turn, name, state) {
      if (turn.threadId === undefined)
        throw invalidArgument('A workflow belongs to a conversation: expected a turn with a threadId, got none.');
      const pack = packNamed(name);
      if (!pack) throw noWorkflow(name, snapshot());
      const { entry, states } = pack.scopes;
      const next = state === undefined ? entry : (nameMeant([...states.keys()], state) ?? state);
      if (next === undefined || !states.has(next)) throw noState(name, next ?? '', [...states.keys()]);
      const own = turn.workflowState?.pack;
      if (own !== undefined && own !== name) {
        throw invalidArgument(
          `This agent works in the workflow ${quoted(own)}, which its manifest names. Expected that one, got ${quoted(name)}.`,
        );
      }
      const conversation = conversationOf(turn);
      conversation.chosen = name;
      conversation.states.set(name, next);
      return workflows.position(turn) as WorkflowPosition;
    },

    leave(turn) {
      if (turn.threadId !== undefined) conversations.delete(keyOf(turn));
    },

    follow(turn, event) {
      const before = workflows.position(turn);
      if (!before || turn.threadId === undefined)
        throw invalidArgument('This conversation is in no workflow, so no event changes its state.');
      const next = before.events.get(nameMeant([...before.events.keys()], event) ?? event);
      if (next === undefined) throw noEvent(before, event);
      conversationOf(turn).states.set(before.pack, next);
      return workflows.position(turn) as WorkflowPosition;
    },

    hasEvents(turn) {
      const { workflowState } = workflows.at(turn);
      const events = workflowState && snapshot().packs.get(workflowState.pack)?.scopes.events;
      return turn.threadId !== undefined && [...(events?.values() ?? [])].some(({ size }) => size > 0);
    },
  };
  return workflows;
}

/** For `<pack>` or `<pack>:<state>`, as a person names it. @throws INVALID_ARGUMENT without such a pack or state. */
export function workflowStateNamed(snapshot: Snapshot, name: string): NonNullable<TurnContext['workflowState']> {
  const colon = snapshot.packs.has(name) ? -1 : name.lastIndexOf(':');
  const pack = colon < 0 ? name : name.slice(0, colon);
  const turn = { threadId: '' };
  const { state } = createWorkflows(() => snapshot).enter(turn, pack, colon < 0 ? undefined : name.slice(colon + 1));
  return { pack, state };
}

/** When two packs have one id, one of them is named by the id of its source. */
export function workflowPacks({ packs }: Snapshot): readonly string[] {
  return [...packs].flatMap(([id, pack]) => {
    const isShown = id === pack.scopes.pack || packs.get(pack.scopes.pack) !== pack;
    return isShown && pack.scopes.states.size > 0 ? [id] : [];
  });
}

/** The skills of the pack that its state lets through. */
export function skillsOfState({ workflowState }: TurnContext, { packs }: Snapshot): Narrowed | undefined {
  if (!workflowState) return undefined;
  const pack = packs.get(workflowState.pack);
  const state = workflowState.state ?? pack?.scopes.entry;
  const expression = state === undefined ? undefined : pack?.scopes.states.get(state);
  // A typing error must not show all skills.
  const isUnknown = !pack || (state !== undefined && !pack.scopes.states.has(state));
  return {
    key: JSON.stringify(workflowState),
    only: () => new Map(isUnknown ? [] : [...pack.byId].filter(([, skill]) => matchesExpression(expression, skill))),
    nothing: isNone(expression),
  };
}

/** For the prompt. The names come from the author of the pack. */
export function workflowText({ pack, state, events }: WorkflowPosition): string {
  const where = `The workflow ${quoted(pack)} is in the state ${quoted(state)}.`;
  if (events.size === 0) return `${where} No event leaves this state.`;
  return `${where} When one of these events has happened, call workflow_event with it: ${eventsText(events)}.`;
}

/** `"billing" (to the state "billing_state"), ...` */
export function eventsText(events: ReadonlyMap<string, string>): string {
  const named = [...events]
    .slice(0, MAX_EVENTS)
    .map(([event, next]) => `${quoted(event)} (to the state ${quoted(next)})`);
  const more = events.size > MAX_EVENTS ? [`${events.size - MAX_EVENTS} more`] : [];
  return [...named, ...more].join(', ');
}

// --- internal ---

interface Conversation {
  /** The pack that a person has chosen. */
  chosen?: string;
  readonly states: Map<string, string>;
}

/** An agent that is called in a conversation of the kernel works in the workflow of its caller. */
function keyOf({ threadId, agentId, ownThread }: TurnContext): string {
  return JSON.stringify(ownThread ? [threadId, agentId] : threadId);
}

function quoted(name: string): string {
  return JSON.stringify(shownName(name));
}

function shownName(name: string): string {
  return shorten(withoutHidden(name).text, MAX_NAME);
}

/** A model gives a cut name back as it was shown. Undefined when several names are shown like this. */
function nameMeant(names: readonly string[], given: string): string | undefined {
  if (names.includes(given)) return given;
  const [meant, ...others] = names.filter((name) => shownName(name) === given);
  return others.length === 0 ? meant : undefined;
}

function noWorkflow(name: string, snapshot: Snapshot): Error {
  const known = workflowPacks(snapshot);
  if (known.length === 0) {
    return invalidArgument(
      `There is no pack with a workflow, got ${quoted(name)}. Add one to \`sources\` in data/skill_registry/config.yaml: { pack: <file> }.`,
    );
  }
  const near = nearestIds(known, name);
  const listed = (near.length > 0 ? near : known.slice(0, MAX_EVENTS)).map(quoted).join(', ');
  return invalidArgument(
    `There is no pack ${quoted(name)} with a workflow. ${near.length > 0 ? 'Nearest' : 'There are'}: ${listed}.`,
  );
}

function noState(pack: string, state: string, states: readonly string[]): Error {
  const known = states.slice(0, MAX_EVENTS).map(quoted).join(', ');
  return invalidArgument(`The workflow ${quoted(pack)} has no state ${quoted(state)}. Its states: ${known}.`);
}

function noEvent({ pack, state, events }: WorkflowPosition, event: string): Error {
  const where = `The state ${quoted(state)} of the workflow ${quoted(pack)}`;
  if (events.size === 0) return invalidArgument(`No event leaves this state: ${where}, got ${quoted(event)}.`);
  return invalidArgument(`${where} has no event ${quoted(event)}. It has: ${eventsText(events)}.`);
}
