import { type RawBuilder, sql } from 'kysely';
import type { AccountId, ApplicationId, InstanceId } from '../../../../generated/ids.js';
import type { Grant, GrantRows } from '../../../domain/credentials/grants.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { changedOne, keptStatement } from '../kept-statement.js';

type Row = Schema['grants'];

const byId = keptStatement((db, { id }: { id: string }) =>
  db.selectFrom('grants').where('id', '=', id).selectAll(),
);

const insertion = keptStatement((db, row: Row) => db.insertInto('grants').values(row));

interface Rotation {
  id: string;
  applicationId: string;
  generation: number;
  next: number;
  at: number;
  refreshExpiresAt: number;
  expiresAt: number;
}

const rotation = keptStatement((db, { id, applicationId, generation, next, at, ...until }: Rotation) =>
  db
    .updateTable('grants')
    .set({
      generation: next,
      rotated_at: at,
      refresh_expires_at: until.refreshExpiresAt,
      expires_at: until.expiresAt,
    })
    .where('id', '=', id)
    .where('application_id', '=', applicationId)
    .where('generation', '=', generation)
    .where('revoked_at', 'is', null)
    .where('refresh_expires_at', '>', at),
);

const revocation = keptStatement((db, { id, now }: { id: string; now: number }) =>
  db.updateTable('grants').set({ revoked_at: now }).where('id', '=', id).where('revoked_at', 'is', null),
);

export function grantRows(db: Writer): GrantRows {
  return {
    find: async (id) => {
      const [row] = (await byId(db, { id })).rows;
      return row && toGrant(row);
    },
    insert: async (grant) => {
      await insertion(db, toRow(grant));
    },
    rotate: async (of, to) => changedOne(await rotation(db, { ...of, ...to, next: of.generation + 1 })),
    revoke: async (id, now) => changedOne(await revocation(db, { id, now })),
    revokeOfAccount: async (accountId, now) => {
      await revokeWithCodes(db, now, sql<boolean>`account_id = ${accountId}`);
    },
    // Found by the person, who has few; the session needs no index of its own, which each sign-in would have to keep.
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

/** A redemption under way holds its code: this waits for it, and then finds the grant that it made. */
async function revokeWithCodes(db: Writer, now: number, chosen: RawBuilder<boolean>): Promise<void> {
  await db
    .updateTable('authorization_codes')
    .set({ status: 'EXPIRED' })
    .where(chosen)
    .where('status', '=', 'ISSUED')
    .execute();
  await db
    .updateTable('grants')
    .set({ revoked_at: now })
    .where(chosen)
    .where('revoked_at', 'is', null)
    .execute();
}

function toGrant(row: Row): Grant {
  return {
    id: row.id,
    applicationId: row.application_id as ApplicationId,
    accountId: row.account_id as AccountId,
    instanceId: row.instance_id as InstanceId,
    scopes: row.scopes.split(' '),
    authenticatedAt: row.authenticated_at,
    sessionId: row.session_id,
    generation: row.generation,
    rotatedAt: row.rotated_at,
    refreshExpiresAt: row.refresh_expires_at,
    refreshEndsAt: row.refresh_ends_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}

function toRow(grant: Grant): Row {
  return {
    id: grant.id,
    application_id: grant.applicationId,
    account_id: grant.accountId,
    instance_id: grant.instanceId,
    scopes: grant.scopes.join(' '),
    authenticated_at: grant.authenticatedAt,
    session_id: grant.sessionId,
    generation: grant.generation,
    rotated_at: grant.rotatedAt,
    refresh_expires_at: grant.refreshExpiresAt,
    refresh_ends_at: grant.refreshEndsAt,
    expires_at: grant.expiresAt,
    revoked_at: grant.revokedAt,
  };
}
