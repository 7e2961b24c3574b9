import { sql } from 'kysely';
import type { Changes } from '../../../domain/platform/unit-of-work.js';
import type { Writer } from '../../database.js';
import { inList } from '../statements/dialect.js';

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
  await blankEvents(writer, memberIds);
  await blankAnswers(writer, new Set([accountId, ...memberIds]));
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

const ANSWERS_PER_READ = 1_000;
const IDS = /(?:acc|usr|wrk)_[0-9A-Za-z]{22}/g;

interface StoredAnswer {
  owner_id: string;
  method: string;
  key: string;
  response: string | null;
}

/** Answers have the ids of all people whom they show. Their keys stay used. */
async function blankAnswers(writer: Writer, ids: ReadonlySet<string>): Promise<void> {
  let after: StoredAnswer | undefined = { owner_id: '', method: '', key: '', response: null };
  while (after) {
    const { rows }: { rows: StoredAnswer[] } = await sql<StoredAnswer>`
      select owner_id, method, key, response from idempotency_keys
      where (owner_id, method, key) > (${after.owner_id}, ${after.method}, ${after.key})
      order by owner_id, method, key limit ${ANSWERS_PER_READ}
    `.execute(writer);
    for (const { owner_id, method, key } of rows.filter((row) => isAbout(ids, row))) {
      await writer
        .updateTable('idempotency_keys')
        .set({ response: null })
        .where('owner_id', '=', owner_id)
        .where('method', '=', method)
        .where('key', '=', key)
        .execute();
    }
    after = rows.length < ANSWERS_PER_READ ? undefined : rows.at(-1);
  }
}

function isAbout(ids: ReadonlySet<string>, { response }: StoredAnswer): boolean {
  const text = Buffer.from(response ?? '', 'base64').toString('latin1');
  return (text.match(IDS) ?? []).some((id) => ids.has(id));
}
