import type { CodeMinutes, CodeStatus } from '../../../domain/sign-on/authorization/codes.js';
import type { SignOnUnitOfWork } from '../../../domain/sign-on/unit-of-work.js';
import { camelCased, type Rows } from '../../camel-case.js';
import type { Writer } from '../../database.js';

export function codeMinutes(writer: Writer): CodeMinutes {
  const db = camelCased(writer);
  return {
    toWatch: (limit) =>
      db
        .selectFrom('codeMinutes')
        .where('watchedAt', 'is', null)
        .orderBy('minute')
        .limit(limit)
        .select(['minute', 'expiresAt'])
        .execute(),
    markWatched: async (minutes, at) => {
      if (minutes.length > 0) {
        await db
          .updateTable('codeMinutes')
          .set({ watchedAt: at })
          .where('minute', 'in', minutes)
          .where('watchedAt', 'is', null)
          .execute();
      }
    },
    expire: async (minute, now) => {
      await db
        .updateTable('authorizationCodes')
        .set({ status: 'EXPIRED' })
        .where('minute', '=', minute)
        .where('status', '=', 'ISSUED')
        .where('expiresAt', '<=', now)
        .execute();
      return stateOf(db, minute);
    },
  };
}

async function stateOf(db: Rows, minute: number) {
  const rows = await db
    .selectFrom('authorizationCodes')
    .where('minute', '=', minute)
    .groupBy('status')
    .select('status')
    .select(({ fn }) => [fn.countAll().as('count'), fn.min('expiresAt').as('firstEnd')])
    .execute();
  const countOf = (status: CodeStatus) => Number(rows.find((row) => row.status === status)?.count ?? 0);
  return {
    issued: rows.reduce((sum, { count }) => sum + Number(count), 0),
    redeemed: countOf('REDEEMED'),
    expired: countOf('EXPIRED'),
    retryAt: rows.find(({ status }) => status === 'ISSUED')?.firstEnd ?? null,
  };
}

/** Each step is a separate transaction. */
export function codeMinutesOf({ rows, run }: SignOnUnitOfWork): CodeMinutes {
  return {
    toWatch: rows.codeMinutes.toWatch,
    markWatched: (minutes, at) => run((changes) => changes.codeMinutes.markWatched(minutes, at)),
    expire: (minute, now) => run((changes) => changes.codeMinutes.expire(minute, now)),
  };
}
