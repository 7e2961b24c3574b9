import type { CodeMinutes, CodeStatus } from '../../../domain/sign-on/codes.js';
import type { SignOnUnitOfWork } from '../../../domain/sign-on/unit-of-work.js';
import type { Writer } from '../../database.js';

export function codeMinutes(db: Writer): CodeMinutes {
  return {
    toWatch: (limit) =>
      db
        .selectFrom('code_minutes')
        .where('watched_at', 'is', null)
        .orderBy('minute')
        .limit(limit)
        .select(['minute', 'expires_at as expiresAt'])
        .execute(),
    markWatched: async (minutes, at) => {
      if (minutes.length > 0) {
        await db
          .updateTable('code_minutes')
          .set({ watched_at: at })
          .where('minute', 'in', minutes)
          .where('watched_at', 'is', null)
          .execute();
      }
    },
    expire: async (minute, now) => {
      await db
        .updateTable('authorization_codes')
        .set({ status: 'EXPIRED' })
        .where('minute', '=', minute)
        .where('status', '=', 'ISSUED')
        .where('expires_at', '<=', now)
        .execute();
      return stateOf(db, minute);
    },
  };
}

async function stateOf(db: Writer, minute: number) {
  const rows = await db
    .selectFrom('authorization_codes')
    .where('minute', '=', minute)
    .groupBy('status')
    .select('status')
    .select(({ fn }) => [fn.countAll().as('count'), fn.min('expires_at').as('firstEnd')])
    .execute();
  const countOf = (status: CodeStatus) => Number(rows.find((row) => row.status === status)?.count ?? 0);
  return {
    issued: rows.reduce((sum, { count }) => sum + Number(count), 0),
    redeemed: countOf('REDEEMED'),
    expired: countOf('EXPIRED'),
    retryAt: rows.find(({ status }) => status === 'ISSUED')?.firstEnd ?? null,
  };
}

/** The same, each step in a transaction of its own. */
export function codeMinutesOf({ rows, run }: SignOnUnitOfWork): CodeMinutes {
  return {
    toWatch: rows.codeMinutes.toWatch,
    markWatched: (minutes, at) => run((changes) => changes.codeMinutes.markWatched(minutes, at)),
    expire: (minute, now) => run((changes) => changes.codeMinutes.expire(minute, now)),
  };
}
