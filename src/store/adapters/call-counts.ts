import { sql } from 'kysely';
import type { CountStore, Total } from '../../domain/access/shared-counts.js';
import type { Database } from '../database.js';
import { isSerializationFailure, repeated } from '../dialects/postgres/trouble.js';

const MOST_FORGOTTEN = 10_000;
const MOST_TRIES = 20;
/** The database's clock, the same for all nodes. */
const NOW = sql<number>`(extract(epoch from now()) * 1000)::bigint`;

/** Counts need not survive a crash, so their commit waits for no disk and no replica. */
const WITHOUT_WAIT = sql`set_config('synchronous_commit', 'off', true)`;

/**
 * Whether the stored window is over, also by the length of the new one: an earlier setting may have given it
 * a later end. One that ends later than any new one began before the clock was set back; a shorter excess is
 * that of a statement which waited for this one.
 */
const IS_OVER = sql<boolean>`(
  present.ends_at <= ${NOW}
  or present.started_at <= ${NOW} - (excluded.ends_at - excluded.started_at)
  or present.ends_at > ${NOW} + 2 * (excluded.ends_at - excluded.started_at)
)`;

/**
 * A node that has admitted few calls exchanges late. Its window may have begun inside one that other nodes
 * have used up. As a window of all nodes, it would admit a full limit again before the next.
 */
const BEGINS_AT = sql<number>`greatest(excluded.started_at, least(present.ends_at, ${NOW}))`;

/** Undefined for SQLite, which has one node. */
export function callCounts({ counter }: Database): CountStore | undefined {
  return (
    counter && {
      add: async (additions) => {
        // In one order, so that statements of several nodes never wait for each other in a circle.
        const adding = sql<Total>`
          insert into call_counts as present (subject, started_at, ends_at, used)
          select subject, ${NOW} - age, ${NOW} - age + span, added
          from unnest(
            ${additions.map(({ subject }) => subject)}::text[],
            ${additions.map(({ ageMs }) => ageMs)}::bigint[],
            ${additions.map(({ windowMs }) => windowMs)}::bigint[],
            ${additions.map(({ added }) => added)}::bigint[]
          ) as addition (subject, age, span, added), (select ${WITHOUT_WAIT}) as setting
          order by subject collate "C"
          on conflict (subject) do update set
            started_at = case when ${IS_OVER} then ${BEGINS_AT} else present.started_at end,
            ends_at = case
              when ${IS_OVER} then ${BEGINS_AT} + excluded.ends_at - excluded.started_at
              else present.ends_at
            end,
            used = case when ${IS_OVER} then excluded.used else present.used + excluded.used end
          returning subject, used, greatest(0, ${NOW} - started_at) as "ageMs"
        `;
        // A server with a stricter default isolation refuses a write that waited for that of another node.
        return repeated(MOST_TRIES, isSerializationFailure, async () => (await adding.execute(counter)).rows);
      },
      forgetOver: async () => {
        await sql`
          delete from call_counts where subject in (
            select subject from call_counts where 2 * ends_at - started_at <= ${NOW} and ${WITHOUT_WAIT} is not null
            limit ${MOST_FORGOTTEN} for update skip locked
          )
        `.execute(counter);
      },
    }
  );
}
