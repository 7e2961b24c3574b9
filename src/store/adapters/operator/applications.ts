import type { Application, ApplicationRows } from '../../../domain/operator/rows/applications.js';
import { camelCased, type Rows, type Tables } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { newestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';
import { type ApplicationParts, redirectUriRows, toApplication, toRow } from './application-mapping.js';

export function applicationRows(writer: Writer): ApplicationRows {
  const db = camelCased(writer);
  const { insert, update } = plainWrites(db, 'applications');
  const secrets = plainWrites(db, 'applicationSecrets');
  return {
    find: async (id) => {
      const row = await db.selectFrom('applications').where('id', '=', id).selectAll().executeTakeFirst();
      return row && (await withParts(db, [row]))[0];
    },
    page: async (page, instanceId) => {
      const there = db.selectFrom('applicationRedirectUris').where('instanceId', '=', String(instanceId));
      const found = db
        .selectFrom('applications')
        .selectAll()
        .$if(instanceId !== undefined, (query) => query.where('id', 'in', there.select('applicationId')));
      return withParts(db, await newestFirst(found, 'applications', page));
    },
    insert: async (application) => {
      await insert(toRow(application));
      const uris = redirectUriRows(application);
      if (uris.length > 0) {
        await db.insertInto('applicationRedirectUris').values(uris).execute();
      }
    },
    update: (application) => update(toRow(application)),
    insertRedirectUri: async (id, { uri, instanceId }) => {
      const { last } = await db
        .selectFrom('applicationRedirectUris')
        .where('applicationId', '=', id)
        .select(({ fn }) => fn.max('position').as('last'))
        .executeTakeFirstOrThrow();
      const position = Number(last ?? -1) + 1;
      await db
        .insertInto('applicationRedirectUris')
        .values({ applicationId: id, uri, instanceId, position })
        .execute();
    },
    deleteRedirectUri: async (id, uri) => {
      await db
        .deleteFrom('applicationRedirectUris')
        .where('applicationId', '=', id)
        .where('uri', '=', uri)
        .execute();
    },
    insertSecret: (applicationId, secret, hash) =>
      secrets.insert({ ...secret, applicationId, hash: Buffer.from(hash).toString('base64url') }),
    setSecretExpiry: (id, expiresAt) => secrets.update({ id, expiresAt }),
    deleteSecret: secrets.delete,
  };
}

async function withParts(db: Rows, rows: readonly Tables['applications'][]): Promise<Application[]> {
  if (rows.length === 0) {
    return [];
  }
  const ids = rows.map(({ id }) => id);
  const parts: ApplicationParts = {
    redirectUris: await db
      .selectFrom('applicationRedirectUris')
      .where('applicationId', 'in', ids)
      .orderBy('position')
      .selectAll()
      .execute(),
    secrets: await db
      .selectFrom('applicationSecrets')
      .where('applicationId', 'in', ids)
      .orderBy('createdAt')
      .orderBy('id')
      .select(['id', 'applicationId', 'createdAt', 'expiresAt', 'lastUsedAt'])
      .execute(),
  };
  return rows.map((row) => toApplication(row, parts));
}
