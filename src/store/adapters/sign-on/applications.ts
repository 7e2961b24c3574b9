import type { KnownApplicationRows, KnownSecret } from '../../../domain/sign-on/applications.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { toApplication } from '../operator/application-mapping.js';
import { statement } from '../statements/kept-statement.js';

interface Named {
  id: string;
}

/** A row for each of its secrets; one without if there is none. */
const withSecrets = statement((db, { id }: Named) =>
  db
    .selectFrom('applications')
    .leftJoin('applicationSecrets as secret', 'secret.applicationId', 'applications.id')
    .where('applications.id', '=', id)
    .orderBy('secret.createdAt')
    .orderBy('secret.id')
    .selectAll('applications')
    .select(['secret.id as secretId', 'secret.hash as secretHash', 'secret.createdAt as secretCreatedAt'])
    .select(['secret.expiresAt as secretExpiresAt', 'secret.lastUsedAt as secretLastUsedAt']),
);

const redirectUrisOf = statement((db, { id }: Named) =>
  db.selectFrom('applicationRedirectUris').where('applicationId', '=', id).orderBy('position').selectAll(),
);

const useOfSecret = statement((db, { id, at, unlessSince }: Named & { at: number; unlessSince: number }) =>
  db
    .updateTable('applicationSecrets')
    .set({ lastUsedAt: at })
    .where('id', '=', id)
    .where((where) => where.or([where('lastUsedAt', 'is', null), where('lastUsedAt', '<', unlessSince)])),
);

export function knownApplicationRows(writer: Writer): KnownApplicationRows {
  const db = camelCased(writer);
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
  secretId: string | null;
  secretHash: string | null;
  secretCreatedAt: number | null;
  secretExpiresAt: number | null;
  secretLastUsedAt: number | null;
}

function toSecret(row: SecretColumns): KnownSecret[] {
  const { secretId: id, secretHash: hash, secretCreatedAt: createdAt } = row;
  if (id === null || hash === null || createdAt === null) {
    return [];
  }
  return [{ id, hash, createdAt, expiresAt: row.secretExpiresAt, lastUsedAt: row.secretLastUsedAt }];
}
