import type { ClientId } from '../../../../generated/ids.js';
import {
  type AuthorizationCode,
  CODE_LIFETIME_MS,
  type CodeMinutes,
  type CodeRows,
  type CodeStatus,
  MINUTE_MS,
} from '../../../domain/sign-on/authorization/codes.js';
import { camelCased, type Rows, type Tables, type Writer } from '../../database.js';
import { changedOne, posted, statement } from '../statements/kept-statement.js';
import { plainWrites } from '../statements/plain-writes.js';

type Row = Tables['authorizationCodes'];
type Ids = Pick<AuthorizationCode, 'applicationId' | 'accountId' | 'instanceId'>;

const byHash = statement((db, { hash }: { hash: string }) =>
  db.selectFrom('authorizationCodes').where('hash', '=', hash).selectAll().$narrowType<Ids>(),
);

const noteOfMinute = posted((db, row: { minute: number; expiresAt: number }) =>
  db
    .insertInto('codeMinutes')
    .values(row)
    .onConflict((conflict) => conflict.column('minute').doNothing()),
);

const redemption = statement((db, { hash, now }: { hash: string; now: number }) =>
  db
    .updateTable('authorizationCodes')
    .set({ status: 'REDEEMED' })
    .where('hash', '=', hash)
    .where('status', '=', 'ISSUED')
    .where('expiresAt', '>', now),
);

/** The column is not null. Only earlier builds of 1.4.0 read it; a later release can remove it. */
const REQUESTED_CLAIMS = '{"authTime":true}';

export function codeRows(writer: Writer): CodeRows {
  const db = camelCased(writer);
  const { insert } = plainWrites(db, 'authorizationCodes');
  return {
    find: async (hash) => {
      const [row] = (await byHash(db, { hash })).rows;
      return row && toCode(row);
    },
    insert: async (code) => {
      const row = toRow(code);
      await insert(row);
      const endOfLast = row.minute + MINUTE_MS + CODE_LIFETIME_MS;
      await noteOfMinute(db, { minute: row.minute, expiresAt: endOfLast });
    },
    redeem: async (hash, now) => changedOne(await redemption(db, { hash, now })),
  };
}

function toCode(row: Omit<Row, keyof Ids> & Ids): AuthorizationCode {
  const { contextUserType, contextClientId, requestedClaims: _, minute: __, ...code } = row;
  return {
    ...code,
    scopes: code.scopes.split(' '),
    context: { userType: contextUserType, clientId: contextClientId as ClientId },
  };
}

function toRow({ context, ...code }: AuthorizationCode): Row {
  return {
    ...code,
    scopes: code.scopes.join(' '),
    requestedClaims: REQUESTED_CLAIMS,
    contextUserType: context.userType,
    contextClientId: context.clientId,
    minute: code.issuedAt - (code.issuedAt % MINUTE_MS),
  };
}

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
