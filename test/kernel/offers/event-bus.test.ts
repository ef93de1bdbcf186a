import { expect, test } from 'vitest';
import { createEventBus } from '../../../kernel/offers/offers.ts';
import { waitFor } from '../../helpers/wait-for.ts';
import { bootTree, codesOf, extension, problemsOf } from '../boot/boot-extensions.ts';

function bus() {
  const failures: string[] = [];
  const events = createEventBus((owner, event, error) => failures.push(`${owner} ${event}: ${String(error)}`));
  return { ...events, failures };
}

test('handlers run in order of subscription, with the payload, and only for their event', () => {
  const { subscribe, emit } = bus();
  const seen: unknown[] = [];
  subscribe('a', 'saved', (payload) => void seen.push(['first', payload]));
  subscribe('b', 'other', () => void seen.push(['other']));
  subscribe('b', 'saved', (payload) => void seen.push(['second', payload]));
  emit('saved', { id: 1 });
  expect(seen).toEqual([
    ['first', { id: 1 }],
    ['second', { id: 1 }],
  ]);
});

test('a handler that throws or rejects is reported with its owner, and the others run', async () => {
  const { subscribe, emit, failures } = bus();
  const seen: string[] = [];
  subscribe('thrower', 'saved', () => {
    throw new Error('no');
  });
  subscribe('rejecter', 'saved', async () => {
    throw new Error('later');
  });
  subscribe('good', 'saved', () => void seen.push('good'));
  emit('saved', null);
  expect(seen).toEqual(['good']);
  await waitFor('the rejection', () => failures.length === 2);
  expect(failures).toEqual(['thrower saved: Error: no', 'rejecter saved: Error: later']);
});

test.each([
  ['a number', 1],
  ['text', 'x'],
  ['an object', {}],
  ['nothing', null],
])('a handler that returns %s has not failed', (_, value) => {
  const { subscribe, emit, failures } = bus();
  subscribe('a', 'saved', (() => value) as never);
  emit('saved', null);
  expect(failures).toEqual([]);
});

test('a subscription ends by its function, and those of one owner all at once', () => {
  const { subscribe, unsubscribeAll, emit } = bus();
  const seen: string[] = [];
  const end = subscribe('a', 'saved', () => void seen.push('a1'));
  subscribe('a', 'saved', () => void seen.push('a2'));
  subscribe('b', 'saved', () => void seen.push('b'));
  end();
  end();
  emit('saved', null);
  unsubscribeAll('a');
  emit('saved', null);
  expect(seen).toEqual(['a2', 'b', 'b']);
});

const LISTENS = `async start() { this.context.events.subscribe('saved', (what) => this.context.log.info('heard ' + what)); }`;
const SAVE = `getCommands() { return [{ name: 'save', description: '', execute: async (args) => { this.context.events.emit('saved', args); return { kind: 'new' }; } }]; }`;

test('extensions hear each other', async () => {
  const kernel = await bootTree({ ...extension('listener', '', LISTENS), ...extension('saver', '', SAVE) });
  await kernel.runCommand('/save it', {});
  expect(kernel.logged).toEqual(['listener heard it']);
});

test('a failing handler is a problem of its extension, told once', async () => {
  const members = `async start() { this.context.events.subscribe('saved', () => { throw new Error('deaf'); }); }`;
  const kernel = await bootTree({
    ...extension('bad', '', members),
    ...extension('listener', '', LISTENS),
    ...extension('saver', '', SAVE),
  });
  await kernel.runCommand('/save one', {});
  await kernel.runCommand('/save two', {});
  expect(kernel.logged).toEqual(['listener heard one', 'listener heard two']);
  expect(problemsOf(kernel)).toMatchObject([
    { code: 'EVENT_HANDLER_FAILED', details: { id: 'bad' }, message: expect.stringContaining('"saved": deaf') },
  ]);
  expect(kernel.undelivered()).toHaveLength(1);
});

test('an extension hears nothing more once it has stopped', async () => {
  const kernel = await bootTree({
    ...extension('saver', '', `async stop() { this.context.events.emit('saved', 'late'); }`),
    ...extension('standing', '', LISTENS),
    ...extension('user', 'depends_on: [saver]', LISTENS),
  });
  await kernel.shutdown();
  expect(kernel.logged).toEqual([]);
});

test('an extension that has failed hears nothing', async () => {
  const kernel = await bootTree({
    ...extension('bad', '', `${LISTENS.replace('}', '; throw new Error("no"); }')}`),
    ...extension('saver', '', SAVE),
  });
  expect(codesOf(kernel)).toEqual(['EXTENSION_START_FAILED']);
  await kernel.runCommand('/save it', {});
  expect(kernel.logged).toEqual([]);
});

test.each<[what: string, fields: string, code: string | undefined]>([
  ['nothing about events may be emitted', '', undefined],
  ['this event may be emitted', 'events: { emits: [other, saved] }', undefined],
  ['other events may not be emitted', 'events: { emits: [other] }', 'EVENT_UNDECLARED'],
  ['only what it listens to may not be emitted', 'events: { listens: [saved] }', 'EVENT_UNDECLARED'],
])('an event of an extension whose manifest says %s', async (_, fields, code) => {
  const kernel = await bootTree({ ...extension('listener', '', LISTENS), ...extension('saver', fields, SAVE) });
  const outcome = await kernel.runCommand('/save it', {}).catch((error: unknown) => error);
  if (code) expect(outcome).toMatchObject({ code, details: { from: 'saver', event: 'saved' } });
  expect(kernel.logged).toEqual(code ? [] : ['listener heard it']);
});
