import { sql } from 'kysely';
import type { AttemptRows, TurnSpacing } from '../../../domain/sign-on/sessions/attempts.js';
import { camelCased, type Tables, type Writer } from '../../database.js';
import { takeTurn } from '../../dialects/turns.js';
import { changedOne, posted, statement } from '../statements/kept-statement.js';

interface Attempt {
  subject: string;
  now: number;
  windowEnd: number;
  /** A later end shows that the clock was set back; the difference between two nodes is far smaller. */
  farEnd: number;
}

const overAt = ({ now, farEnd }: Pick<Attempt, 'now' | 'farEnd'>) =>
  sql`(attempt_counts.ends_at <= ${now} or attempt_counts.ends_at > ${farEnd})`;

const count = statement((db, { subject, windowEnd, ...times }: Attempt) => {
  const isOver = overAt(times);
  return db
    .insertInto('attemptCounts')
    .values({ subject, count: 1, endsAt: windowEnd, nextAt: 0 })
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet({
        count: sql<number>`case when ${isOver} then 1 else attempt_counts.count + 1 end`,
        endsAt: sql<number>`case when ${isOver} then excluded.ends_at else attempt_counts.ends_at end`,
      }),
    )
    .returning(['count', 'endsAt']);
});

/** Gives one attempt back to the count, if it ends between `from` and `to`, both included. */
const giving = posted((db, { subject, from, to }: { subject: string; from: number; to: number }) =>
  db
    .updateTable('attemptCounts')
    .set((row) => ({ count: row('count', '-', 1) }))
    .where('subject', '=', subject)
    .where('endsAt', '>=', from)
    .where('endsAt', '<=', to)
    .where('count', '>', 0),
);

const forgetting = posted((db, { subject }: { subject: string }) =>
  db.deleteFrom('attemptCounts').where('subject', '=', subject),
);

const turn = statement((db, values: TurnSpacing & Omit<Attempt, 'windowEnd'>) => {
  const { subject, now, farEnd, free, stepMs, maxSpacingMs, maxWaitMs, windowMs } = values;
  const whole = (value: number) => sql`cast(${value} as bigint)`;
  const isOver = overAt({ now, farEnd });
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
    .insertInto('attemptCounts')
    .values({ subject, count: 1, nextAt: now, endsAt: sql<number>`${whole(now)} + ${whole(windowMs)}` })
    .onConflict((conflict) =>
      conflict
        .column('subject')
        .doUpdateSet({
          count: sql<number>`case when ${isOver} then 1 else attempt_counts.count + 1 end`,
          nextAt: at,
          endsAt: sql<number>`${at} + ${whole(windowMs)}`,
        })
        .where(sql<boolean>`(${isOver} or ${spaced} <= ${whole(now)} + ${whole(maxWaitMs)})`),
    )
    .returning(['count', 'nextAt as at']);
});

const waiting = statement((db, { holder, now }: { holder: string; now: number }) =>
  db
    .selectFrom('attemptCounts')
    .where('subject', '=', holder)
    .where('endsAt', '>', now)
    .select('nextAt as at'),
);

const keeping = posted((db, row: Tables['attemptCounts']) =>
  db
    .insertInto('attemptCounts')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet(({ ref }) => ({
        nextAt: ref('excluded.nextAt'),
        endsAt: ref('excluded.endsAt'),
      })),
    ),
);

const using = statement((db, { holder, now }: { holder: string; now: number }) =>
  db
    .deleteFrom('attemptCounts')
    .where('subject', '=', holder)
    .where('nextAt', '<=', now)
    .where('endsAt', '>', now),
);

export function attemptRows(writer: Writer): AttemptRows {
  const db = camelCased(writer);
  return {
    count: async (subject, now, windowMs) => {
      // The limit of guesses in memory permits hundreds at once, which would wait for this row together.
      takeTurn(writer, subject);
      const windowEnd = now + windowMs;
      const [row] = (await count(db, { subject, now, windowEnd, farEnd: windowEnd + windowMs })).rows;
      return row as { count: number; endsAt: number };
    },
    giveBack: (subject, endsAt) => giving(db, { subject, from: endsAt, to: endsAt }),
    // Whenever the count ends, unless it has ended.
    giveBackTurn: (subject, now) => giving(db, { subject, from: now + 1, to: Number.MAX_SAFE_INTEGER }),
    forget: (subject) => forgetting(db, { subject }),
    takeTurn: async (subject, now, spacing) => {
      const farEnd = now + 2 * (spacing.maxWaitMs + spacing.windowMs);
      return (await turn(db, { subject, now, farEnd, ...spacing })).rows[0];
    },
    waitingFor: async (holder, now) => (await waiting(db, { holder, now })).rows[0]?.at,
    keepTurn: (holder, at, endsAt) => keeping(db, { subject: holder, count: 0, nextAt: at, endsAt }),
    useTurn: async (holder, now) => changedOne(await using(db, { holder, now })),
  };
}
