import { sql } from 'kysely';
import type { AccountId } from '../../../../generated/ids.js';
import type { ForgetCopies } from '../../../domain/platform/people/erasure.js';
import type { UserView } from '../../../domain/platform/rows/people.js';
import type { Changes } from '../../../domain/platform/unit-of-work.js';
import { AtOnce } from '../../../fairness/at-once.js';
import { inPieces } from '../../../fairness/pieces.js';
import type { Database, Reader, Writer } from '../../database.js';
import { forgetAnswer, type StoredAnswer, storedAnswers } from '../idempotency-keys.js';
import { inList } from '../statements/dialect.js';
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
export function copyForgetting(database: Pick<Database, 'reader' | 'write'>): ForgetCopies {
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
  for await (const answers of storedAnswers(reader, ANSWERS_AT_ONCE)) {
    const shown = answers.filter((answer) => shows(ids, answer));
    await mend(
      database,
      shown.map((answer) => (writer) => forgetAnswer(writer, answer)),
    );
  }
  const managers = new Map<string | undefined, UserView>(users.map((user) => [user.id, user]));
  for (const clientId of new Set(users.map((user) => user.clientId))) {
    for await (const events of eventsOf(reader, clientId)) {
      await mend(
        database,
        events.flatMap(({ seq, data }) => {
          const manager = managers.get(MANAGER.exec(data ?? '')?.[1]);
          return (manager && renaming(seq, data as string, manager)) ?? [];
        }),
      );
    }
  }
}

/** Few: an answer may have a megabyte. */
const ANSWERS_AT_ONCE = 100;
const EVENTS_AT_ONCE = 1_000;

type Mending = (writer: Writer) => Promise<unknown>;

/** Makes the corrections of a piece in one small write, because other writes wait meanwhile. */
async function mend({ write }: Pick<Database, 'write'>, mendings: readonly Mending[]): Promise<void> {
  if (mendings.length > 0) {
    // Together, so that they share round trips.
    await write((writer) => Promise.all(mendings.map((each) => each(writer))));
  }
}

const IDS = /(erased-)?((?:acc|usr|wrk)_[0-9A-Za-z]{22})/g;

/** Answers have the ids of all people whom they show, those after the erasure also the erased address. */
function shows(ids: ReadonlySet<string>, { response }: StoredAnswer): boolean {
  const text = Buffer.from(response ?? '', 'base64').toString('latin1');
  const found = [...text.matchAll(IDS)].filter(([, , id = '']) => ids.has(id));
  return found.length > 0 && found.every(([, erased]) => erased === undefined);
}

interface EventOfClient {
  seq: number;
  occurred_at: number;
  /** Of users only: no others have a manager. */
  data: string | null;
}

/** In an order that begins with the client, so that no query plan reads events of other clients. */
function eventsOf(reader: Reader, clientId: string): AsyncGenerator<EventOfClient[]> {
  const order = sql`client_id, occurred_at, ${sql.ref(placeIn(reader))}`;
  return inPieces(EVENTS_AT_ONCE, async (limit, after?: EventOfClient) => {
    const { rows } = await sql<EventOfClient>`
      select seq, occurred_at, case when entity_type = 'user' then data end as data from events
      where (${order}) > (${clientId}, ${after?.occurred_at ?? 0}, ${after?.seq ?? 0}) and client_id <= ${clientId}
      order by ${order} limit ${limit}
    `.execute(reader);
    return rows;
  });
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
