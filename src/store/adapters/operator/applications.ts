import type { Application, ApplicationRows } from '../../../domain/operator/applications.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { type ApplicationParts, toApplication, toRow } from './application-mapping.js';
import { olderThan } from './newest-first.js';

export function applicationRows(writer: Writer): ApplicationRows {
  return {
    find: async (id) => {
      const row = await writer.selectFrom('applications').where('id', '=', id).selectAll().executeTakeFirst();
      return row && (await withParts(writer, [row]))[0];
    },
    page: async (page, instanceId) => {
      let query = writer.selectFrom('applications').where(olderThan('applications', page));
      if (instanceId !== undefined) {
        const there = writer
          .selectFrom('application_redirect_uris')
          .where('instance_id', '=', instanceId)
          .select('application_id');
        query = query.where('id', 'in', there);
      }
      const rows = await query
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(page.limit)
        .selectAll()
        .execute();
      return withParts(writer, rows);
    },
    insert: async (application) => {
      await writer.insertInto('applications').values(toRow(application)).execute();
      const uris = application.redirectUris.map(({ uri, instanceId }, position) => ({
        application_id: application.id,
        uri,
        instance_id: instanceId,
        position,
      }));
      if (uris.length > 0) {
        await writer.insertInto('application_redirect_uris').values(uris).execute();
      }
    },
    update: async (application) => {
      await writer
        .updateTable('applications')
        .set(toRow(application))
        .where('id', '=', application.id)
        .execute();
    },
    insertRedirectUri: async (id, { uri, instanceId }) => {
      const { last } = await writer
        .selectFrom('application_redirect_uris')
        .where('application_id', '=', id)
        .select(({ fn }) => fn.max('position').as('last'))
        .executeTakeFirstOrThrow();
      const position = Number(last ?? -1) + 1;
      await writer
        .insertInto('application_redirect_uris')
        .values({ application_id: id, uri, instance_id: instanceId, position })
        .execute();
    },
    deleteRedirectUri: async (id, uri) => {
      await writer
        .deleteFrom('application_redirect_uris')
        .where('application_id', '=', id)
        .where('uri', '=', uri)
        .execute();
    },
    insertSecret: async (applicationId, { id, createdAt, expiresAt, lastUsedAt }, hash) => {
      await writer
        .insertInto('application_secrets')
        .values({
          id,
          application_id: applicationId,
          hash: Buffer.from(hash).toString('base64url'),
          created_at: createdAt,
          expires_at: expiresAt,
          last_used_at: lastUsedAt,
        })
        .execute();
    },
    setSecretExpiry: async (secretId, expiresAt) => {
      await writer
        .updateTable('application_secrets')
        .set({ expires_at: expiresAt })
        .where('id', '=', secretId)
        .execute();
    },
    deleteSecret: async (secretId) => {
      await writer.deleteFrom('application_secrets').where('id', '=', secretId).execute();
    },
  };
}

async function withParts(writer: Writer, rows: readonly Schema['applications'][]): Promise<Application[]> {
  if (rows.length === 0) {
    return [];
  }
  const ids = rows.map(({ id }) => id);
  const parts: ApplicationParts = {
    redirectUris: await writer
      .selectFrom('application_redirect_uris')
      .where('application_id', 'in', ids)
      .orderBy('position')
      .selectAll()
      .execute(),
    secrets: await writer
      .selectFrom('application_secrets')
      .where('application_id', 'in', ids)
      .orderBy('created_at')
      .orderBy('id')
      .select(['id', 'application_id', 'created_at', 'expires_at', 'last_used_at'])
      .execute(),
  };
  return rows.map((row) => toApplication(row, parts));
}
