import { sql } from 'kysely';
import type { AttemptRows } from '../../../domain/sign-on/attempts.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { keptStatement } from '../kept-statement.js';

interface Attempt {
  subject: string;
  now: number;
  windowEnd: number;
}

const count = keptStatement((db, { subject, now, windowEnd }: Attempt) =>
  db
    .insertInto('attempt_counts')
    .values({ subject, count: 1, ends_at: windowEnd })
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet({
        count: sql<number>`case when attempt_counts.ends_at <= ${now} then 1 else attempt_counts.count + 1 end`,
        ends_at: sql<number>`case when attempt_counts.ends_at <= ${now} then excluded.ends_at else attempt_counts.ends_at end`,
      }),
    )
    .returning(['count', 'ends_at as endsAt']),
);

const giving = keptStatement((db, { subject, endsAt }: { subject: string; endsAt: number }) =>
  db
    .updateTable('attempt_counts')
    .set((row) => ({ count: row('count', '-', 1) }))
    .where('subject', '=', subject)
    .where('ends_at', '=', endsAt)
    .where('count', '>', 0),
);

const forgetting = keptStatement((db, { subject }: { subject: string }) =>
  db.deleteFrom('attempt_counts').where('subject', '=', subject),
);

const knownAddress = keptStatement(
  (db, { accountId, addressHash, now }: { accountId: string; addressHash: string; now: number }) =>
    db
      .selectFrom('known_addresses')
      .where('account_id', '=', accountId)
      .where('address_hash', '=', addressHash)
      .where('expires_at', '>', now)
      .select('account_id'),
);

const memory = keptStatement((db, row: Schema['known_addresses']) =>
  db
    .insertInto('known_addresses')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'address_hash'])
        .doUpdateSet(({ ref }) => ({ expires_at: ref('excluded.expires_at') })),
    ),
);

export function attemptRows(db: Writer): AttemptRows {
  return {
    count: async (subject, now, windowMs) => {
      const [row] = (await count(db, { subject, now, windowEnd: now + windowMs })).rows;
      return row as { count: number; endsAt: number };
    },
    giveBack: async (subject, endsAt) => {
      await giving(db, { subject, endsAt });
    },
    forget: async (subject) => {
      await forgetting(db, { subject });
    },
    isKnownAddress: async (accountId, addressHash, now) => {
      const { rows } = await knownAddress(db, { accountId, addressHash, now });
      return rows.length > 0;
    },
    rememberAddress: async (accountId, addressHash, expiresAt) => {
      await memory(db, { account_id: accountId, address_hash: addressHash, expires_at: expiresAt });
    },
  };
}
