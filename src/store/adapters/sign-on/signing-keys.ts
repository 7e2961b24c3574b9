import type { SigningKeyRows } from '../../../domain/sign-on/keys/signing-keys.js';
import { camelCased, type Writer } from '../../database.js';
import { assertNotRetired } from '../operator/encryption-keys.js';
import { plainWrites } from '../statements/plain-writes.js';

export function signingKeyRows(writer: Writer): SigningKeyRows {
  const db = camelCased(writer);
  const { insert } = plainWrites(db, 'signingKeys');
  return {
    all: async () => {
      const rows = await db
        .selectFrom('signingKeys')
        .orderBy('createdAt', 'desc')
        .orderBy('kid', 'desc')
        .selectAll()
        .execute();
      return rows.map((row) => ({ ...row, publicJwk: JSON.parse(row.publicJwk) }));
    },
    insert: async (key) => {
      await assertNotRetired(writer, [key.sealedPrivateKey]);
      await insert({ ...key, publicJwk: JSON.stringify(key.publicJwk) });
    },
    update: async ({ kid, activatesAt, supersededAt, retiresAt, retiredAt }) => {
      const times = { activatesAt, supersededAt, retiresAt, retiredAt };
      await db.updateTable('signingKeys').set(times).where('kid', '=', kid).execute();
    },
  };
}
