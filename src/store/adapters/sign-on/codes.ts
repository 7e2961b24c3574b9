import type { AccountId, ApplicationId, ClientId, InstanceId } from '../../../../generated/ids.js';
import { type AuthorizationCode, CODE_LIFETIME_MS, type CodeRows } from '../../../domain/sign-on/codes.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { changedOne, keptStatement } from '../kept-statement.js';

type Row = Schema['authorization_codes'];

const MINUTE_MS = 60_000;

const byHash = keptStatement((db, { hash }: { hash: string }) =>
  db.selectFrom('authorization_codes').where('hash', '=', hash).selectAll(),
);

const insertion = keptStatement((db, row: Row) => db.insertInto('authorization_codes').values(row));

const noteOfMinute = keptStatement((db, row: { minute: number; expires_at: number }) =>
  db
    .insertInto('code_minutes')
    .values(row)
    .onConflict((conflict) => conflict.column('minute').doNothing()),
);

const redemption = keptStatement((db, { hash, now }: { hash: string; now: number }) =>
  db
    .updateTable('authorization_codes')
    .set({ status: 'REDEEMED' })
    .where('hash', '=', hash)
    .where('status', '=', 'ISSUED')
    .where('expires_at', '>', now),
);

export function codeRows(db: Writer): CodeRows {
  return {
    find: async (hash) => {
      const [row] = (await byHash(db, { hash })).rows;
      return row && toCode(row);
    },
    insert: async (code) => {
      const row = toRow(code);
      await insertion(db, row);
      const endOfLast = row.minute + MINUTE_MS + CODE_LIFETIME_MS;
      await noteOfMinute(db, { minute: row.minute, expires_at: endOfLast });
    },
    redeem: async (hash, now) => changedOne(await redemption(db, { hash, now })),
  };
}

function toCode(row: Row): AuthorizationCode {
  return {
    hash: row.hash,
    grantId: row.grant_id,
    applicationId: row.application_id as ApplicationId,
    accountId: row.account_id as AccountId,
    instanceId: row.instance_id as InstanceId,
    redirectUri: row.redirect_uri,
    scopes: row.scopes.split(' '),
    codeChallenge: row.code_challenge,
    nonce: row.nonce,
    requestedClaims: JSON.parse(row.requested_claims),
    context: { userType: row.context_user_type, clientId: row.context_client_id as ClientId },
    authenticatedAt: row.authenticated_at,
    sessionId: row.session_id,
    status: row.status,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
  };
}

function toRow(code: AuthorizationCode): Row {
  return {
    hash: code.hash,
    grant_id: code.grantId,
    application_id: code.applicationId,
    account_id: code.accountId,
    instance_id: code.instanceId,
    redirect_uri: code.redirectUri,
    scopes: code.scopes.join(' '),
    code_challenge: code.codeChallenge,
    nonce: code.nonce,
    requested_claims: JSON.stringify(code.requestedClaims),
    context_user_type: code.context.userType,
    context_client_id: code.context.clientId,
    authenticated_at: code.authenticatedAt,
    session_id: code.sessionId,
    status: code.status,
    minute: code.issuedAt - (code.issuedAt % MINUTE_MS),
    issued_at: code.issuedAt,
    expires_at: code.expiresAt,
  };
}
