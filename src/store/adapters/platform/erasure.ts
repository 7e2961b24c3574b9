import { sql } from 'kysely';
import type { AccountId } from '../../../../generated/ids.js';
import type { UserView } from '../../../domain/platform/rows/people.js';
import type { Changes } from '../../../domain/platform/unit-of-work.js';
import { AtOnce } from '../../../fairness/at-once.js';
import type { Database, Reader, Writer } from '../../database.js';
import { inList } from '../statements/dialect.js';
import { FORGOTTEN } from '../unit-of-work.js';
import { placeIn } from '../webhooks/logs/conditions.js';
import { userRows } from './users.js';
import { workerRows } from './workers.js';

/** In this order: a redemption in progress holds its code, and makes a grant. */
const TABLES = [
  'passwords',
  'account_links',
  'email_changes',
  'account_notices',
  'sessions',
  'consents',
  'login_contexts',
  'authorization_codes',
  'grants',
] as const;

export async function forgetPerson(
  writer: Writer,
  { accountId, memberIds }: Parameters<Changes['forgetPerson']>[0],
): Promise<void> {
  for (const table of TABLES) {
    await writer.deleteFrom(table).where('account_id', '=', accountId).execute();
  }
  // Another account of the mailbox tells what its address was.
  await writer
    .updateTable('accounts')
    .set({ same_mailbox_as: null })
    .where('same_mailbox_as', '=', accountId)
    .execute();
  await blankEvents(writer, memberIds);
}

/** Earlier events get the data of the newest one of their entity. Deliveries that wait for them stay. */
async function blankEvents(writer: Writer, entityIds: readonly string[]): Promise<void> {
  await sql`
    update events set data = (
      select newest.data from events as newest where newest.entity_id = events.entity_id
      order by newest.sequence desc limit 1
    ) where ${inList(writer, 'entity_id', JSON.stringify(entityIds))}
  `.execute(writer);
}

/** One scan at a time: beside many, other writes would wait long, and a repeated call would scan too. */
export function copyForgetting(
  database: Pick<Database, 'reader' | 'write'>,
): (accountId: AccountId) => Promise<void> {
  const scans = new AtOnce(1);
  return (accountId) => scans.run('', () => forgetCopies(database, accountId));
}

/**
 * After the commit of the erasure. Every write that shows a person locks the account or the client, as that
 * did: later ones have the erased data, so nothing is missed behind a page that was read.
 */
async function forgetCopies(
  database: Pick<Database, 'reader' | 'write'>,
  accountId: AccountId,
): Promise<void> {
  const { reader } = database;
  const users = await userRows(reader).ofAccount(accountId);
  const workers = await workerRows(reader).ofAccount(accountId);
  const ids = new Set<string>([accountId, ...[...users, ...workers].map(({ id }) => id)]);
  await mendPages(
    database,
    ANSWERS_PER_PAGE,
    (after?: StoredAnswer) => answersAfter(reader, after),
    (answer) => (shows(ids, answer) ? forgetting(answer) : undefined),
  );
  const managers = new Map<string | undefined, UserView>(users.map((user) => [user.id, user]));
  for (const clientId of new Set(users.map((user) => user.clientId))) {
    await mendPages(
      database,
      EVENTS_PER_PAGE,
      (after?: EventOfClient) => eventsAfter(reader, clientId, after),
      ({ seq, data }) => {
        const manager = managers.get(MANAGER.exec(data ?? '')?.[1]);
        return manager && renaming(seq, data as string, manager);
      },
    );
  }
}

/** Few: an answer may have a megabyte. */
const ANSWERS_PER_PAGE = 100;

const EVENTS_PER_PAGE = 1_000;

type Mending = (writer: Writer) => Promise<unknown>;

/** In one small write for each page with something to mend, because other writes wait meanwhile. */
async function mendPages<Row>(
  { write }: Pick<Database, 'write'>,
  rowsPerPage: number,
  pageAfter: (after?: Row) => Promise<Row[]>,
  mendingOf: (row: Row) => Mending | undefined,
): Promise<void> {
  let after: Row | undefined;
  do {
    const rows = await pageAfter(after);
    const mendings = rows.flatMap((row) => mendingOf(row) ?? []);
    if (mendings.length > 0) {
      // Together, so that they share round trips.
      await write((writer) => Promise.all(mendings.map((mend) => mend(writer))));
    }
    after = rows.length < rowsPerPage ? undefined : rows.at(-1);
    // SQLite blocks the event loop.
    await new Promise(setImmediate);
  } while (after);
}

interface StoredAnswer {
  owner_id: string;
  method: string;
  key: string;
  response: string | null;
}

async function answersAfter(
  reader: Reader,
  { owner_id, method, key }: Omit<StoredAnswer, 'response'> = { owner_id: '', method: '', key: '' },
): Promise<StoredAnswer[]> {
  const { rows } = await sql<StoredAnswer>`
    select owner_id, method, key, response from idempotency_keys
    where (owner_id, method, key) > (${owner_id}, ${method}, ${key})
    order by owner_id, method, key limit ${ANSWERS_PER_PAGE}
  `.execute(reader);
  return rows;
}

const IDS = /(erased-)?((?:acc|usr|wrk)_[0-9A-Za-z]{22})/g;

/** Answers have the ids of all people whom they show, those after the erasure also the erased address. */
function shows(ids: ReadonlySet<string>, { response }: StoredAnswer): boolean {
  const text = Buffer.from(response ?? '', 'base64').toString('latin1');
  const found = [...text.matchAll(IDS)].filter(([, , id = '']) => ids.has(id));
  return found.length > 0 && found.every(([, erased]) => erased === undefined);
}

/** The key stays used. */
function forgetting({ owner_id, method, key }: StoredAnswer): Mending {
  return (writer) =>
    writer
      .updateTable('idempotency_keys')
      .set({ response: FORGOTTEN })
      .where('owner_id', '=', owner_id)
      .where('method', '=', method)
      .where('key', '=', key)
      .execute();
}

interface EventOfClient {
  seq: number;
  occurred_at: number;
  /** Of users only: no others have a manager. */
  data: string | null;
}

async function eventsAfter(
  reader: Reader,
  clientId: string,
  { occurred_at, seq }: Omit<EventOfClient, 'data'> = { occurred_at: 0, seq: 0 },
): Promise<EventOfClient[]> {
  // By the client too, so that no plan reads the events of others.
  const order = sql`client_id, occurred_at, ${sql.ref(placeIn(reader))}`;
  const { rows } = await sql<EventOfClient>`
    select seq, occurred_at, case when entity_type = 'user' then data end as data from events
    where (${order}) > (${clientId}, ${occurred_at}, ${seq}) and client_id <= ${clientId}
    order by ${order} limit ${EVENTS_PER_PAGE}
  `.execute(reader);
  return rows;
}

const MANAGER = /"manager":\{"id":"(usr_[0-9A-Za-z]{22})"/;

/** Unless the event has got other data since it was read, by the erasure of its own person. */
function renaming(seq: number, data: string, manager: UserView): Mending | undefined {
  const { id, firstName, lastName, fullName, email } = manager;
  const renamed = JSON.stringify({
    ...JSON.parse(data),
    manager: { id, firstName, lastName, fullName, email },
  });
  return renamed === data
    ? undefined
    : (writer) =>
        writer
          .updateTable('events')
          .set({ data: renamed })
          .where('seq', '=', seq)
          .where('data', '=', data)
          .execute();
}
