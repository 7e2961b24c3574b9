import type { Insertable } from 'kysely';
import type { InstanceId, InstanceIntegrationId, IntegrationId } from '../../generated/ids.js';
import { newPublicId } from '../../src/identifiers/public-id.js';
import { hashSecret } from '../../src/identifiers/random-secrets.js';
import type { Database } from '../../src/store/database.js';
import type { Schema } from '../../src/store/schema.js';

export type Row<Table extends keyof Schema> = Partial<Insertable<Schema[Table]>>;

/** Beyond 32 bits and not a round number, so that a time that comes back changed is seen. */
export const CREATED_AT = 1_790_000_000_123;

export function hashText(secret: string): string {
  return hashSecret(secret).toString('base64url');
}

export async function plantIntegration(database: Database, row: Row<'integrations'> = {}) {
  const id = newPublicId('IntegrationId');
  const integration = {
    id,
    name: 'Brightledger',
    version: '',
    created_at: CREATED_AT,
    updated_at: CREATED_AT,
  };
  const planted = { ...integration, ...row };
  await database.write((writer) => writer.insertInto('integrations').values(planted).execute());
  return { id: planted.id as IntegrationId };
}

export async function plantVersion(database: Database, subjectId: string, version: string): Promise<void> {
  await database.write((writer) =>
    writer.insertInto('data_versions').values({ subject_id: subjectId, version }).execute(),
  );
}

export async function plantInstance(database: Database, row: Row<'instances'> = {}) {
  const id = newPublicId('InstanceId');
  const planted = {
    id,
    name: 'Harborlight',
    version: 'v1',
    created_at: CREATED_AT,
    updated_at: CREATED_AT,
    ...row,
  };
  await database.write((writer) => writer.insertInto('instances').values(planted).execute());
  return { id: planted.id as InstanceId };
}

export async function plantConnection(
  database: Database,
  row: Row<'instance_integrations'> & { integration_id: string; instance_id: string },
) {
  const planted = {
    id: newPublicId('InstanceIntegrationId') as string,
    configured_at: null,
    version: '',
    created_at: CREATED_AT,
    updated_at: CREATED_AT,
    ...row,
  };
  await database.write((writer) => writer.insertInto('instance_integrations').values(planted).execute());
  return { id: planted.id as InstanceIntegrationId };
}

export async function plantApiKey(
  database: Database,
  secret: string,
  row: Row<'api_keys'> & { integration_id: string },
) {
  const planted = {
    id: `key_${hashText(secret)}`,
    hash: hashText(secret),
    label: 'For a test',
    hint: 'ik_demo_abcd…',
    version: '',
    created_at: CREATED_AT,
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    ...row,
  };
  await database.write((writer) => writer.insertInto('api_keys').values(planted).execute());
  return { id: planted.id };
}

export async function plantServiceToken(database: Database, secret: string, row: Row<'service_tokens'> = {}) {
  const planted = {
    id: `tok_${hashText(secret)}`,
    kind: 'operator' as const,
    hash: hashText(secret),
    label: 'For a test',
    created_at: CREATED_AT,
    expires_at: null,
    revoked_at: null,
    ...row,
  };
  await database.write((writer) => writer.insertInto('service_tokens').values(planted).execute());
  return { id: planted.id };
}
