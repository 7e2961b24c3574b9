import type { AccountId } from '../../../../generated/ids.js';
import { type DemoApplication, demoAppId } from '../../../domain/demo/applications.js';
import type { DemoCredentials, DemoSeed, DemoStore } from '../../../domain/demo/seed.js';
import { DEFAULT_SETTINGS } from '../../../domain/operator/application-rules.js';
import type { Application } from '../../../domain/operator/rows/applications.js';
import { newVersion } from '../../../domain/version.js';
import { apiKeyHint } from '../../../identifiers/api-key.js';
import { hashSecret, storedHash } from '../../../identifiers/random-secrets.js';
import type { RecordKind } from '../../../identifiers/record-id.js';
import type { ServiceTokenKind } from '../../../identifiers/service-token.js';
import { camelCased, type Database, type Writer } from '../../database.js';
import { redirectUriRows, toRow } from '../operator/applications.js';
import { insert, seedDirectory } from './directory.js';

export function demoStore({ reader, write }: Database): DemoStore {
  return {
    seed: (seed, credentials) =>
      write(async (writer) => {
        await seedDirectory(writer, seed);
        await seedApplications(writer, seed);
        await seedCredentials(writer, seed, credentials);
      }),
    withoutPassword: (accountIds) => withoutPassword(reader, accountIds),
    seedPasswords: (passwords, at) =>
      write(async (writer) => {
        const rows = passwords.map(({ accountId, hash }) => ({ accountId, hash, setAt: at }));
        await insert(writer, 'passwords', rows);
      }),
  };
}

async function withoutPassword(reader: Writer, accountIds: readonly AccountId[]): Promise<AccountId[]> {
  const rows = await camelCased(reader)
    .selectFrom('accounts')
    .leftJoin('passwords', 'passwords.accountId', 'accounts.id')
    .where('accounts.id', 'in', [...accountIds])
    .where('passwords.accountId', 'is', null)
    .select('accounts.id')
    .execute();
  return rows.map(({ id }) => id as AccountId);
}

/**
 * Inserts missing applications, also if an earlier release inserted the directory. The addresses of the
 * demo's own application follow its port.
 */
async function seedApplications(writer: Writer, { applications, createdAt }: DemoSeed): Promise<void> {
  for (const [index, application] of applications.entries()) {
    const row = toRow(registered(application, createdAt + index));
    const isNew = (await insert(writer, 'applications', [row])) > 0;
    // Redirect URIs that people removed must not return.
    if (!isNew && application.id !== demoAppId) {
      continue;
    }
    const added = await insert(writer, 'applicationRedirectUris', redirectUriRows(application));
    if (!isNew && added > 0) {
      const { postLogoutRedirectUris, logoUri, policyUri, tosUri, initiateLoginUri, version } = row;
      const { id } = application;
      await camelCased(writer)
        .updateTable('applications')
        .set({ postLogoutRedirectUris, logoUri, policyUri, tosUri, initiateLoginUri, version })
        .where('id', '=', id)
        .execute();
    }
  }
}

function registered(application: DemoApplication, createdAt: number): Application {
  return {
    ...DEFAULT_SETTINGS,
    ...application,
    enabled: true,
    postLogoutRedirectUris: [...application.postLogoutRedirectUris],
    redirectUris: [...application.redirectUris],
    secrets: [],
    version: newVersion(),
    createdAt,
    updatedAt: createdAt,
  };
}

/** Existing credentials stay as they are: revoked ones stay revoked. */
async function seedCredentials(
  writer: Writer,
  { createdAt }: DemoSeed,
  { apiKeys, serviceTokens, clientSecrets }: DemoCredentials,
): Promise<void> {
  const unused = { createdAt, expiresAt: null, lastUsedAt: null };
  const keys = Object.entries(apiKeys).map(([integrationId, key]) => ({
    ...unused,
    ...identityOf('key', key),
    revokedAt: null,
    version: newVersion(),
    integrationId,
    label: 'Demo key',
    hint: apiKeyHint(key),
  }));
  const tokens = Object.entries(serviceTokens).map(([kind, token]) => ({
    ...unused,
    ...identityOf('tok', token),
    revokedAt: null,
    kind: kind as ServiceTokenKind,
    instanceId: null,
    ownerId: null,
    label: `Demo ${kind}`,
  }));
  const secrets = Object.entries(clientSecrets).map(([applicationId, secret]) => ({
    ...unused,
    ...identityOf('sec', secret),
    applicationId,
  }));
  await insert(writer, 'apiKeys', keys);
  await insert(writer, 'serviceTokens', tokens);
  await insert(writer, 'applicationSecrets', secrets);
}

/** The id is derived from the secret, so that a repeated insert finds the row. */
function identityOf(kind: RecordKind, secret: string) {
  const hash = storedHash(secret);
  return { id: `${kind}_${hashSecret(hash).toString('hex').slice(0, 22)}`, hash };
}
