import { type InferResult, type RawBuilder, sql } from 'kysely';
import type { Grant, GrantRows } from '../../../domain/credentials/access.js';
import { camelCased, type Rows, type Writer } from '../../database.js';
import { takeTurn } from '../../dialects/turns.js';
import { changedOne, statement } from '../statements/kept-statement.js';
import { plainWrites } from '../statements/plain-writes.js';

const grants = (db: Rows) =>
  db
    .selectFrom('grants')
    .selectAll()
    .$narrowType<Pick<Grant, 'applicationId' | 'accountId' | 'instanceId'>>();

const byId = statement((db, { id }: { id: string }) => grants(db).where('id', '=', id));

type Rotated = Parameters<GrantRows['rotate']>;
type Rotation = Omit<Rotated[0], 'accountId'> & Rotated[1] & { next: number };

const rotation = statement((db, { next, at, ...values }: Rotation) =>
  db
    .updateTable('grants')
    .set({
      generation: next,
      rotatedAt: at,
      refreshExpiresAt: values.refreshExpiresAt,
      expiresAt: values.expiresAt,
    })
    .where('id', '=', values.id)
    .where('applicationId', '=', values.applicationId)
    .where('generation', '=', values.generation)
    .where('revokedAt', 'is', null)
    .where('refreshExpiresAt', '>', at),
);

const revocation = statement((db, { id, now }: { id: string; now: number }) =>
  db.updateTable('grants').set({ revokedAt: now }).where('id', '=', id).where('revokedAt', 'is', null),
);

export function grantRows(writer: Writer): GrantRows {
  const db = camelCased(writer);
  const { insert } = plainWrites(db, 'grants');
  return {
    find: async (id) => {
      const [row] = (await byId(db, { id })).rows;
      return row && toGrant(row);
    },
    page: async (accountId, afterId, limit) => {
      const found = grants(db).where('accountId', '=', accountId).where('id', '>', afterId);
      return (await found.orderBy('id').limit(limit).execute()).map(toGrant);
    },
    insert: (grant) => insert({ ...grant, scopes: grant.scopes.join(' ') }),
    rotate: async ({ id, applicationId, accountId, generation }, to) => {
      // Nothing else limits the concurrent refreshes of a person, who may have many grants.
      takeTurn(writer, `refreshes of ${applicationId} for ${accountId}`);
      const of = { id, applicationId, generation };
      return changedOne(await rotation(db, { ...of, ...to, next: generation + 1 }));
    },
    revoke: async (id, now) => changedOne(await revocation(db, { id, now })),
    revokeOfAccount: async (accountId, now) => {
      await revokeWithCodes(db, now, sql<boolean>`account_id = ${accountId}`);
    },
    revokeOfApplication: async ({ accountId, applicationId, instanceId }, now) => {
      const chosen = sql<boolean>`
        account_id = ${accountId} and application_id = ${applicationId} and instance_id = ${instanceId}
      `;
      return revokeWithCodes(db, now, chosen);
    },
    // Found by person, who has few; an index by session would cost every sign-in.
    revokeOfSession: async ({ sessionId, accountId }, now) => {
      await revokeWithCodes(
        db,
        now,
        sql<boolean>`
          account_id = ${accountId} and session_id = ${sessionId}
          and exists (select 1 from applications where applications.id = application_id and sign_out_ends_tokens = 1)
        `,
      );
    },
  };
}

function toGrant(row: InferResult<ReturnType<typeof grants>>[number]): Grant {
  return { ...row, scopes: row.scopes.split(' ') };
}

/**
 * A redemption in progress holds its code: this waits for it, and then finds its grant. Returns whether it
 * revoked anything; what it revoked may have expired before.
 */
async function revokeWithCodes(db: Rows, now: number, chosen: RawBuilder<boolean>): Promise<boolean> {
  const codes = await db
    .updateTable('authorizationCodes')
    .set({ status: 'EXPIRED' })
    .where(chosen)
    .where('status', '=', 'ISSUED')
    .executeTakeFirst();
  const grants = await db
    .updateTable('grants')
    .set({ revokedAt: now })
    .where(chosen)
    .where('revokedAt', 'is', null)
    .executeTakeFirst();
  return codes.numUpdatedRows + grants.numUpdatedRows > 0n;
}
