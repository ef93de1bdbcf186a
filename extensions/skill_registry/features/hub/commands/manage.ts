import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  actorOf,
  EXIT,
  type ExitStatus,
  invalidArgument,
  type Options,
} from '../../../../../lib/command-line/index.ts';
import { makePrivateFile } from '../../../../../lib/files/index.ts';
import type { CommandTerminal as Terminal } from '../../../core/command-line.ts';
import { grantNamed, NO_HUB, readHubConfig } from '../config.ts';
import { hubName, addToken as issueToken } from '../serve/principals.ts';
import { usageOf } from '../serve/usage.ts';
import type { HubToken } from '../store/hub-store.ts';
import { migrate } from '../store/postgres-tables.ts';
import { assertWhole, backUp, SqliteStore } from '../store/sqlite.ts';
import { addressOf, dataFile, type HubOptions, openStore, rootOf } from './open-store.ts';

interface GrantOptions extends HubOptions {
  readonly space: string;
  readonly role: string;
}

interface AddOptions extends GrantOptions {
  readonly person: string;
  readonly days?: number;
}

interface MigrateOptions extends Options {
  readonly store: string;
  readonly role?: string;
}

export async function addToken(options: AddOptions, terminal: Terminal): Promise<ExitStatus> {
  const { space, role, days } = options;
  const { by } = actorOf(options, terminal);
  const { by: person } = actorOf({ by: options.person }, terminal);
  const { secret, id } = await issueToken(await openStore(options, terminal), {
    space,
    role,
    person,
    days,
    by,
  });
  terminal.print({ id, space, role, person, token: secret }, () => secret);
  terminal.say(`It opens the space ${space} as ${role}, for ${person}. It is not shown again; ${id} is its id.`);
  return EXIT.done;
}

export async function listTokens(options: HubOptions, terminal: Terminal): Promise<ExitStatus> {
  const all = await (await openStore(options, terminal)).tokens();
  const now = new Date().toISOString();
  const stateOf = (revoked: string | null, expires: string | null): string =>
    revoked === null ? (expires !== null && expires <= now ? 'over' : 'valid') : 'revoked';
  const rows = all.map(({ id, space, role, person, expires, last_use: used, revoked }) => {
    return [id, space, role, person, stateOf(revoked, expires), expires?.slice(0, 10) ?? '', used ?? 'never'];
  });
  const head = ['TOKEN', 'SPACE', 'ROLE', 'PERSON', 'STATE', 'UNTIL', 'LAST USE'];
  terminal.print({ tokens: all }, () => terminal.table(head, rows));
  return EXIT.done;
}

export async function revokeToken(id: string, options: HubOptions, terminal: Terminal): Promise<ExitStatus> {
  const { by } = actorOf(options, terminal);
  if (!(await (await openStore(options, terminal)).revokeToken(id, by)))
    throw invalidArgument(`There is no valid token ${JSON.stringify(id)}. hub token list shows those there are.`);
  terminal.print({ id, revoked: true });
  terminal.say(`${id} is revoked. A running hub refuses it from now on.`);
  return EXIT.done;
}

export async function listPeople(options: HubOptions, terminal: Terminal): Promise<ExitStatus> {
  const people = await (await openStore(options, terminal)).people();
  const rows = people.map(({ person, space, role }) => [person, space, role ?? 'removed']);
  terminal.print({ people }, () => terminal.table(['PERSON', 'SPACE', 'ROLE'], rows));
  return EXIT.done;
}

export async function addPerson(name: string, options: GrantOptions, terminal: Terminal): Promise<ExitStatus> {
  const { by } = actorOf(options, terminal);
  const known = hubName(actorOf({ by: name }, terminal).by);
  const grant = grantNamed(options);
  // Two headers are one text with a comma, so the hub believes none with one.
  if (name.includes(',')) throw invalidArgument('A proxy cannot say a name with a comma. Let it send another one.');
  const { oidc } = options.data === undefined ? NO_HUB : readHubConfig(rootOf(options, terminal));
  await (await openStore(options, terminal)).addPerson({ ...known, ...grant }, by);
  terminal.print({ person: known.person, ...grant });
  terminal.say(`${known.person} is ${grant.role} in the space ${grant.space}, also at a running hub.`);
  if (oidc)
    terminal.say(`Who logs in at ${oidc.issuer} has the roles that the claim ${oidc.claim} gives, not this one.`);
  return EXIT.done;
}

export async function removePerson(name: string, options: HubOptions, terminal: Terminal): Promise<ExitStatus> {
  const { by } = actorOf(options, terminal);
  const known = hubName(actorOf({ by: name }, terminal).by);
  const store = await openStore(options, terminal);
  await store.removePerson(known, by);
  const isOwn = (token: HubToken): boolean => token.revoked === null && hubName(token.person).key === known.key;
  const tokens = (await store.tokens()).filter(isOwn).map(({ id }) => id);
  terminal.print({ person: known.person, removed: true, tokens });
  terminal.say(`${known.person} is let in no more, and an open page ends.`);
  if (tokens.length > 0) terminal.say(`Tokens of this person are still valid: hub token revoke ${tokens.join(', ')}`);
  return EXIT.done;
}

export async function showAudit(options: HubOptions, terminal: Terminal): Promise<ExitStatus> {
  const { rows, broken } = await (await openStore(options, terminal)).audit();
  const lines = rows.map(({ seq, at, by, space, what, subject }) => [seq, at, by, space, what, subject]);
  const head = ['NUMBER', 'WHEN', 'WHO', 'SPACE', 'WHAT', 'ABOUT'];
  const last = rows.at(-1)?.hash ?? null;
  terminal.print({ rows, broken: broken ?? null, last }, () => terminal.table(head, lines));
  if (broken !== undefined) terminal.say(`error: row ${broken} is not what was written, or one before it is gone.`);
  else terminal.say(`The chain is whole. Its last hash: ${last ?? 'none'}`);
  return broken === undefined ? EXIT.done : EXIT.problem;
}

export async function showUsage(
  options: HubOptions & { readonly space: string; readonly days: number },
  terminal: Terminal,
): Promise<ExitStatus> {
  const { space, days } = options;
  const store = await openStore(options, terminal);
  const { since, usage } = await usageOf(store, space, days);
  const isKnown = (await store.state(space)).head > 0 || (await store.tokens()).some((one) => one.space === space);
  if (!isKnown && usage.length === 0)
    throw invalidArgument(`No token and no skill is of a space ${JSON.stringify(space)}. See hub token list.`);
  const rows = usage.map(({ skill_id, agent, loads, refused, machines, last_day: last }) => {
    return [skill_id, agent || '(no name)', loads, refused, machines, last];
  });
  const head = ['SKILL', 'AGENT', 'LOADS', 'REFUSED', 'MACHINES', 'LAST'];
  terminal.print({ space, since, usage }, () => terminal.table(head, rows));
  terminal.say(`Since ${since}, as machines have told it that share it.`);
  return EXIT.done;
}

export function makeBackup(to: string, options: HubOptions, terminal: Terminal): ExitStatus {
  const target = resolve(terminal.cwd, to);
  if (existsSync(target)) throw invalidArgument(`${target} is there already. Give a new file.`);
  backUp(fileOf(options, terminal), target);
  makePrivateFile(target);
  terminal.print({ file: target }, () => target);
  return EXIT.done;
}

export async function restoreBackup(from: string, options: HubOptions, terminal: Terminal): Promise<ExitStatus> {
  const source = resolve(terminal.cwd, from);
  if (!existsSync(source)) throw invalidArgument(`There is no file ${source}.`);
  const file = fileOf(options, terminal);
  const copy = `${file}.restored`;
  copyFileSync(source, copy);
  try {
    assertWhole(copy, source);
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
    renameSync(copy, file);
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(`${copy}${end}`, { force: true });
  }
  const store = new SqliteStore(file);
  await store.renewEpoch();
  const { by } = actorOf(options, terminal);
  await store.noteAudit({ by, space: '', what: 'restore', subject: source, details: '{}' });
  await store.close();
  terminal.print({ file }, () => file);
  terminal.say('Restored. Machines read everything again when serve runs.');
  return EXIT.done;
}

/** As the owner of the tables; what is done is printed. */
export async function migrateStore(options: MigrateOptions, terminal: Terminal): Promise<ExitStatus> {
  const sql = await migrate(addressOf(options.store, terminal), options.role);
  terminal.print({ sql }, () => sql);
  terminal.say(sql === '' ? 'The tables are those of this release; nothing was done.' : 'This was done.');
  return EXIT.done;
}

// --- internal ---

function fileOf(options: HubOptions, terminal: Terminal): string {
  if (options.store === undefined) return dataFile(rootOf(options, terminal));
  throw invalidArgument(
    'A database of PostgreSQL is copied with pg_dump, and put back with pg_restore; then serve goes on.',
  );
}
