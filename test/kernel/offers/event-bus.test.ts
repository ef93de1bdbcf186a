import { expect, test } from 'vitest';
import { waitFor } from '../../helpers/wait-for.ts';
import { bootTree, codesOf, extension, problemsOf } from '../boot/boot-extensions.ts';

const LISTENS = `async start() { this.context.events.subscribe('saved', (what) => this.context.log.info('heard ' + what)); }`;
const SAVE = `getCommands() { return [{ name: 'save', description: '', execute: async (args) => { this.context.events.emit('saved', args); return { kind: 'new' }; } }]; }`;

/** An extension whose `start` does this, with `on(event, handler)`. */
function starting(id: string, body: string) {
  return extension(id, '', `async start() { const { events: { subscribe: on }, log } = this.context; ${body} }`);
}

test('handlers run in order of subscription, with the payload, and only for their event', async () => {
  const kernel = await bootTree({
    ...starting('a', `on('saved', (what) => log.info('first ' + what));`),
    ...starting('b', `on('other', () => log.info('other')); on('saved', (what) => log.info('second ' + what));`),
    ...extension('saver', '', SAVE),
  });
  await kernel.runCommand('/save it', {});
  expect(kernel.logged).toEqual(['a first it', 'b second it']);
});

test('a handler that throws or rejects is reported with its owner, and the others run', async () => {
  const kernel = await bootTree({
    ...starting('a_thrower', `on('saved', () => { throw new Error('no'); });`),
    ...starting('b_rejecter', `on('saved', async () => { throw new Error('later'); });`),
    ...starting('good', `on('saved', () => log.info('good'));`),
    ...extension('saver', '', SAVE),
  });
  await kernel.runCommand('/save it', {});
  expect(kernel.logged).toEqual(['good good']);
  await waitFor('the rejection', () => problemsOf(kernel).length === 2);
  expect(problemsOf(kernel).map(({ details, message }) => `${details?.id} ${message}`)).toEqual([
    'a_thrower Extension "a_thrower" failed to handle the event "saved": no.',
    'b_rejecter Extension "b_rejecter" failed to handle the event "saved": later.',
  ]);
});

test('a handler that returns a number, text, an object or nothing has not failed', async () => {
  const kernel = await bootTree({
    ...starting('one', `for (const value of [1, 'x', {}, null]) on('saved', () => value);`),
    ...extension('saver', '', SAVE),
  });
  await kernel.runCommand('/save it', {});
  await new Promise(setImmediate);
  expect(problemsOf(kernel)).toEqual([]);
});

test('a subscription ends by its function, which may be called again', async () => {
  const kernel = await bootTree({
    ...starting('a', `const end = on('saved', () => log.info('1')); on('saved', () => log.info('2')); end(); end();`),
    ...starting('b', `on('saved', () => log.info('3'));`),
    ...extension('saver', '', SAVE),
  });
  await kernel.runCommand('/save it', {});
  expect(kernel.logged).toEqual(['a 2', 'b 3']);
});

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
