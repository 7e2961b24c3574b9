import type { SigningKey, SigningKeyRows } from '../../../domain/sign-on/signing-keys.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { assertNotRetired } from '../operator/encryption-keys.js';

export function signingKeyRows(db: Writer): SigningKeyRows {
  return {
    all: async () => {
      const rows = await db
        .selectFrom('signing_keys')
        .orderBy('created_at', 'desc')
        .orderBy('kid', 'desc')
        .selectAll()
        .execute();
      return rows.map(toSigningKey);
    },
    insert: async (key) => {
      const { kid, algorithm, publicJwk, sealedPrivateKey, createdAt } = key;
      await assertNotRetired(db, [sealedPrivateKey]);
      await db
        .insertInto('signing_keys')
        .values({
          kid,
          algorithm,
          public_jwk: JSON.stringify(publicJwk),
          sealed_private_key: sealedPrivateKey,
          created_at: createdAt,
          ...timesOf(key),
        })
        .execute();
    },
    update: async (key) => {
      await db.updateTable('signing_keys').set(timesOf(key)).where('kid', '=', key.kid).execute();
    },
  };
}

function toSigningKey(row: Schema['signing_keys']): SigningKey {
  return {
    kid: row.kid,
    algorithm: row.algorithm,
    publicJwk: JSON.parse(row.public_jwk),
    sealedPrivateKey: row.sealed_private_key,
    createdAt: row.created_at,
    activatesAt: row.activates_at,
    supersededAt: row.superseded_at,
    retiresAt: row.retires_at,
    retiredAt: row.retired_at,
  };
}

function timesOf({ activatesAt, supersededAt, retiresAt, retiredAt }: SigningKey) {
  return {
    activates_at: activatesAt,
    superseded_at: supersededAt,
    retires_at: retiresAt,
    retired_at: retiredAt,
  };
}
