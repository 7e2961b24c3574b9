import { sql } from 'kysely';
import type { AttemptRows, TurnSpacing } from '../../../domain/sign-on/attempts.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { changedOne, keptStatement } from '../kept-statement.js';

interface Attempt {
  subject: string;
  now: number;
  windowEnd: number;
}

const count = keptStatement((db, { subject, now, windowEnd }: Attempt) =>
  db
    .insertInto('attempt_counts')
    .values({ subject, count: 1, ends_at: windowEnd, next_at: 0 })
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

const givingTurn = keptStatement((db, { subject, now }: { subject: string; now: number }) =>
  db
    .updateTable('attempt_counts')
    .set((row) => ({ count: row('count', '-', 1) }))
    .where('subject', '=', subject)
    .where('ends_at', '>', now)
    .where('count', '>', 0),
);

const forgetting = keptStatement((db, { subject }: { subject: string }) =>
  db.deleteFrom('attempt_counts').where('subject', '=', subject),
);

interface TurnValues extends TurnSpacing {
  subject: string;
  now: number;
}

const turn = keptStatement((db, { subject, now, ...spacing }: TurnValues) => {
  const { free, stepMs, maxSpacingMs, maxWaitMs, windowMs } = spacing;
  const whole = (value: number) => sql`cast(${value} as bigint)`;
  const isOver = sql`attempt_counts.ends_at <= ${now}`;
  const stretched = sql`(attempt_counts.count - ${whole(free)} + 1) * ${whole(stepMs)}`;
  const spaced = sql`attempt_counts.next_at + case
    when attempt_counts.count < ${free} then 0
    when ${stretched} > ${whole(maxSpacingMs)} then ${whole(maxSpacingMs)}
    else ${stretched} end`;
  const at = sql<number>`case
    when ${isOver} then ${whole(now)}
    when ${spaced} > ${whole(now)} then ${spaced}
    else ${whole(now)} end`;
  return db
    .insertInto('attempt_counts')
    .values({ subject, count: 1, next_at: now, ends_at: sql<number>`${whole(now)} + ${whole(windowMs)}` })
    .onConflict((conflict) =>
      conflict
        .column('subject')
        .doUpdateSet({
          count: sql<number>`case when ${isOver} then 1 else attempt_counts.count + 1 end`,
          next_at: at,
          ends_at: sql<number>`${at} + ${whole(windowMs)}`,
        })
        .where(sql<boolean>`(${isOver} or ${spaced} <= ${whole(now)} + ${whole(maxWaitMs)})`),
    )
    .returning(['count', 'next_at as at']);
});

const waiting = keptStatement((db, { holder, now }: { holder: string; now: number }) =>
  db
    .selectFrom('attempt_counts')
    .where('subject', '=', holder)
    .where('ends_at', '>', now)
    .select('next_at as at'),
);

const keeping = keptStatement((db, row: Schema['attempt_counts']) =>
  db
    .insertInto('attempt_counts')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet(({ ref }) => ({
        next_at: ref('excluded.next_at'),
        ends_at: ref('excluded.ends_at'),
      })),
    ),
);

const using = keptStatement((db, { holder, now }: { holder: string; now: number }) =>
  db
    .deleteFrom('attempt_counts')
    .where('subject', '=', holder)
    .where('next_at', '<=', now)
    .where('ends_at', '>', now),
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
    giveBackTurn: async (subject, now) => {
      await givingTurn(db, { subject, now });
    },
    forget: async (subject) => {
      await forgetting(db, { subject });
    },
    takeTurn: async (subject, now, spacing) => (await turn(db, { subject, now, ...spacing })).rows[0],
    waitingFor: async (holder, now) => (await waiting(db, { holder, now })).rows[0]?.at,
    keepTurn: async (holder, at, endsAt) => {
      await keeping(db, { subject: holder, count: 0, next_at: at, ends_at: endsAt });
    },
    useTurn: async (holder, now) => changedOne(await using(db, { holder, now })),
  };
}
