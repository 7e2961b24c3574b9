import type { Reader } from '../database.js';
import type { Schema } from '../schema.js';
import { type Check, Tally } from './check.js';

const PAGE = 500;

/** The answer is written in the transaction that first uses the key, so committed rows have one. */
export const keysWithoutAnswers: Check = {
  name: 'keys-without-answers',
  severity: 'error',
  about: 'Every idempotency key has the answer of its call.',
  remedy:
    'Such a call was written incompletely: check its effects, and repeat what is missing with a new key. The service refuses the old key until it is purged.',
  find: async (reader, { endsAt }) => {
    const tally = new Tally(endsAt);
    for await (const { method, key, response } of answers(reader, tally)) {
      if (response === null) {
        tally.add(`${method} ${key}`);
      }
    }
    return tally.found('keys');
  },
};

/** Rows that are never removed: deleted users and workers keep theirs. */
const KEPT_FOR_GOOD = {
  ins: 'instances',
  cli: 'clients',
  acc: 'accounts',
  usr: 'users',
  wrk: 'workers',
} as const satisfies Record<string, keyof Schema>;

const ID = /(ins|cli|acc|usr|wrk)_[0-9A-Za-z]{22}/g;

export const answersOfNothing: Check = {
  name: 'answers-of-nothing',
  severity: 'error',
  about: 'Every record that the answer of an idempotency key names exists.',
  remedy:
    'The caller got an id that was not stored: create the record again with a new key, and inform users of that id.',
  find: async (reader, { endsAt }) => {
    const tally = new Tally(endsAt);
    for await (const { method, key, response } of answers(reader, tally)) {
      for (const id of new Set(
        Buffer.from(response ?? '', 'base64')
          .toString('latin1')
          .match(ID),
      )) {
        const table = KEPT_FOR_GOOD[id.slice(0, 3) as keyof typeof KEPT_FOR_GOOD];
        const row = await reader.selectFrom(table).where('id', '=', id).select('id').executeTakeFirst();
        if (!row) {
          tally.add(`${id} in the answer of ${method} ${key}`);
        }
      }
    }
    return tally.found('keys');
  },
};

async function* answers(reader: Reader, tally: Tally) {
  let after = { owner_id: '', method: '', key: '' };
  for (;;) {
    const rows = await reader
      .selectFrom('idempotency_keys')
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('owner_id', 'method', 'key'), '>', tuple(after.owner_id, after.method, after.key)),
      )
      .orderBy('owner_id')
      .orderBy('method')
      .orderBy('key')
      .limit(PAGE)
      .select(['owner_id', 'method', 'key', 'response'])
      .execute();
    yield* rows;
    const last = rows.at(-1);
    if (!tally.looked(rows.length) || rows.length < PAGE || !last) {
      return;
    }
    after = last;
  }
}
