import type { KnownApplication, KnownApplicationRows } from '../../../domain/sign-on/applications.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { keptStatement } from '../kept-statement.js';
import { toApplication } from '../operator/application-mapping.js';

interface Named {
  id: string;
}

const application = keptStatement((db, { id }: Named) =>
  db.selectFrom('applications').where('id', '=', id).selectAll(),
);

const redirectUrisOf = keptStatement((db, { id }: Named) =>
  db.selectFrom('application_redirect_uris').where('application_id', '=', id).orderBy('position').selectAll(),
);

const secretsOf = keptStatement((db, { id }: Named) =>
  db
    .selectFrom('application_secrets')
    .where('application_id', '=', id)
    .orderBy('created_at')
    .orderBy('id')
    .selectAll(),
);

const useOfSecret = keptStatement(
  (db, { id, at, unlessSince }: Named & { at: number; unlessSince: number }) =>
    db
      .updateTable('application_secrets')
      .set({ last_used_at: at })
      .where('id', '=', id)
      .where((where) =>
        where.or([where('last_used_at', 'is', null), where('last_used_at', '<', unlessSince)]),
      ),
);

export function knownApplicationRows(db: Writer): KnownApplicationRows {
  return {
    find: async (id) => {
      const [{ rows }, redirectUris, secrets] = await Promise.all([
        application(db, { id }),
        redirectUrisOf(db, { id }),
        secretsOf(db, { id }),
      ]);
      return rows[0] && toKnown(rows[0], redirectUris.rows, secrets.rows);
    },
    markSecretUsed: async (id, at, unlessSince) => {
      await useOfSecret(db, { id, at, unlessSince });
    },
  };
}

function toKnown(
  row: Schema['applications'],
  redirectUris: readonly Schema['application_redirect_uris'][],
  secrets: readonly Schema['application_secrets'][],
): KnownApplication {
  return {
    ...toApplication(row, { redirectUris, secrets: [] }),
    secrets: secrets.map(({ id, hash, created_at, expires_at, last_used_at }) => ({
      id,
      hash,
      createdAt: created_at,
      expiresAt: expires_at,
      lastUsedAt: last_used_at,
    })),
  };
}
