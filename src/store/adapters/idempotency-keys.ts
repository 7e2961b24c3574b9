import { sql } from 'kysely';
import type { Repeatable } from '../../domain/unit-of-work.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { inPieces } from '../../fairness/pieces.js';
import type { Reader, Writer } from '../database.js';
import { takeTurn } from '../dialects/turns.js';
import type { Schema } from '../schema.js';
import { changedOne, keptPosted, keptStatement } from './statements/kept-statement.js';

/** In place of an answer that showed an erased person. Not base64, which has groups of four. */
export const FORGOTTEN = '-';

/** The insert decides which call is first; another waits for its commit. Older keys have no owner. */
export async function once<T>(
  writer: Writer,
  now: number,
  { ownerId, isOwnedOnly = false, method, key, requestHash, encode, decode }: Repeatable<T>,
  work: () => Promise<T>,
): Promise<T> {
  takeTurn(writer, `${ownerId} ${method} ${key}`);
  const former_owner_id = isOwnedOnly ? ownerId : '';
  const row = { owner_id: ownerId, former_owner_id, method, key, request_hash: requestHash, created_at: now };
  if (!changedOne(await keyInsertion(writer, row))) {
    return earlierAnswer(writer, row, decode);
  }
  const answer = await work();
  const response = Buffer.from(encode(answer)).toString('base64');
  await answerNote(writer, { owner_id: ownerId, method, key, response });
  return answer;
}

type KeyRow = Schema['idempotency_keys'];
type KeyUse = Omit<KeyRow, 'response'> & { former_owner_id: string };

const keyInsertion = keptStatement(
  (_, row: KeyUse) => sql`
    insert into idempotency_keys (owner_id, method, key, request_hash, created_at)
    select ${row.owner_id}, ${row.method}, ${row.key}, ${row.request_hash}, ${row.created_at}
    where not exists (
      select 1 from idempotency_keys
      where owner_id = ${row.former_owner_id} and method = ${row.method} and key = ${row.key}
    )
    on conflict (owner_id, method, key) do nothing
  `,
);

const answerNote = keptPosted((db, row: Pick<KeyRow, 'owner_id' | 'method' | 'key'> & { response: string }) =>
  db
    .updateTable('idempotency_keys')
    .set({ response: row.response })
    .where('owner_id', '=', row.owner_id)
    .where('method', '=', row.method)
    .where('key', '=', row.key),
);

async function earlierAnswer<T>(
  writer: Writer,
  { owner_id, former_owner_id, method, key, request_hash }: KeyUse,
  decode: (bytes: Uint8Array) => T,
): Promise<T> {
  const earlier = await writer
    .selectFrom('idempotency_keys')
    .where('owner_id', 'in', [owner_id, former_owner_id])
    .where('method', '=', method)
    .where('key', '=', key)
    .orderBy('owner_id', 'desc')
    .select(['request_hash', 'response'])
    .executeTakeFirst();
  if (earlier === undefined) {
    const message = 'The idempotency key is being removed, because its time is over. Try again in a moment.';
    throw new ServiceError(ErrorCode.UNAVAILABLE, message, { retryAfterSeconds: 1 });
  }
  const { response } = earlier;
  if (earlier.request_hash !== request_hash) {
    throw keyRefused('This idempotency key was used for another request.');
  }
  if (response === null) {
    throw keyRefused('The call with this idempotency key was written incompletely. Check its effects.');
  }
  if (response === FORGOTTEN) {
    throw keyRefused(
      'This idempotency key was used, and its answer is no longer stored, because a person in it was erased.',
    );
  }
  return decode(Buffer.from(response, 'base64'));
}

function keyRefused(message: string): ServiceError {
  return new ServiceError(ErrorCode.IDEMPOTENCY_KEY_REUSED, message);
}

export type StoredAnswer = Pick<KeyRow, 'owner_id' | 'method' | 'key' | 'response'>;

/** Removes the answer; the key stays used. */
export function forgetAnswer(writer: Writer, answer: StoredAnswer): Promise<void> {
  return answerNote(writer, { ...answer, response: FORGOTTEN });
}

export function storedAnswers(reader: Reader, size: number): AsyncGenerator<StoredAnswer[]> {
  return inPieces(size, (limit, after?: StoredAnswer) => {
    const { owner_id, method, key } = after ?? { owner_id: '', method: '', key: '' };
    return reader
      .selectFrom('idempotency_keys')
      .where(sql<boolean>`(owner_id, method, key) > (${owner_id}, ${method}, ${key})`)
      .orderBy('owner_id')
      .orderBy('method')
      .orderBy('key')
      .limit(limit)
      .select(['owner_id', 'method', 'key', 'response'])
      .execute();
  });
}
