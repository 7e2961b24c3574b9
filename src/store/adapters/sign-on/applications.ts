import type { KnownApplicationRows, KnownSecret } from '../../../domain/sign-on/applications.js';
import type { Writer } from '../../database.js';
import { keptStatement } from '../kept-statement.js';
import { toApplication } from '../operator/application-mapping.js';

interface Named {
  id: string;
}

/** A row for each of its secrets, and one without where it has none. */
const withSecrets = keptStatement((db, { id }: Named) =>
  db
    .selectFrom('applications')
    .leftJoin('application_secrets as secret', 'secret.application_id', 'applications.id')
    .where('applications.id', '=', id)
    .orderBy('secret.created_at')
    .orderBy('secret.id')
    .selectAll('applications')
    .select([
      'secret.id as secret_id',
      'secret.hash as secret_hash',
      'secret.created_at as secret_created_at',
    ])
    .select(['secret.expires_at as secret_expires_at', 'secret.last_used_at as secret_last_used_at']),
);

const redirectUrisOf = keptStatement((db, { id }: Named) =>
  db.selectFrom('application_redirect_uris').where('application_id', '=', id).orderBy('position').selectAll(),
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
      const [{ rows }, redirectUris] = await Promise.all([
        withSecrets(db, { id }),
        redirectUrisOf(db, { id }),
      ]);
      return (
        rows[0] && {
          ...toApplication(rows[0], { redirectUris: redirectUris.rows, secrets: [] }),
          secrets: rows.flatMap(toSecret),
        }
      );
    },
    markSecretUsed: async (id, at, unlessSince) => {
      await useOfSecret(db, { id, at, unlessSince });
    },
  };
}

interface SecretColumns {
  secret_id: string | null;
  secret_hash: string | null;
  secret_created_at: number | null;
  secret_expires_at: number | null;
  secret_last_used_at: number | null;
}

function toSecret(row: SecretColumns): KnownSecret[] {
  const { secret_id: id, secret_hash: hash, secret_created_at: createdAt } = row;
  if (id === null || hash === null || createdAt === null) {
    return [];
  }
  return [{ id, hash, createdAt, expiresAt: row.secret_expires_at, lastUsedAt: row.secret_last_used_at }];
}
