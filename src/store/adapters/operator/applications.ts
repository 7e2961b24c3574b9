import type { ApplicationId } from '../../../../generated/ids.js';
import type {
  Application,
  ApplicationRows,
  RedirectUri,
} from '../../../domain/operator/rows/applications.js';
import { camelCased, type Rows, type Tables, type Writer } from '../../database.js';
import { newestFirst } from '../statements/keyset.js';
import { certainWrites, plainWrites } from '../statements/plain-writes.js';

export function applicationRows(writer: Writer): ApplicationRows {
  const db = camelCased(writer);
  const { insert, update } = plainWrites(db, 'applications');
  const redirectUris = plainWrites(db, 'applicationRedirectUris');
  const plain = plainWrites(db, 'applicationSecrets');
  const certain = certainWrites(db, 'applicationSecrets');
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
      await redirectUris.insert({ applicationId: id, uri, instanceId, position: Number(last ?? -1) + 1 });
    },
    deleteRedirectUri: async (id, uri) => {
      await db
        .deleteFrom('applicationRedirectUris')
        .where('applicationId', '=', id)
        .where('uri', '=', uri)
        .execute();
    },
    insertSecret: (applicationId, secret, hash) =>
      plain.insert({ ...secret, applicationId, hash: Buffer.from(hash).toString('base64url') }),
    setSecretExpiry: (id, expiresAt) => certain.update({ id, expiresAt }),
    deleteSecret: certain.delete,
    forgetSecret: plain.delete,
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

/** The parts of applications, without hashes of secrets. */
interface ApplicationParts {
  redirectUris: readonly Tables['applicationRedirectUris'][];
  secrets: readonly Omit<Tables['applicationSecrets'], 'hash'>[];
}

export function toApplication(
  row: Tables['applications'],
  { redirectUris, secrets }: ApplicationParts,
): Application {
  const isOwn = (part: { applicationId: string }) => part.applicationId === row.id;
  return {
    id: row.id as ApplicationId,
    name: row.name,
    type: row.type,
    enabled: row.enabled === 1,
    allowedScopes: JSON.parse(row.allowedScopes),
    allowedGrantTypes: JSON.parse(row.allowedGrantTypes),
    requirePkce: row.requirePkce === 1,
    firstParty: row.firstParty === 1,
    signOutEndsTokens: row.signOutEndsTokens === 1,
    idTokenAlgorithm: row.idTokenAlgorithm,
    tokenLifetimes: {
      accessTokenSeconds: row.accessTokenSeconds,
      refreshTokenSeconds: row.refreshTokenSeconds,
      idTokenSeconds: row.idTokenSeconds,
      refreshFamilySeconds: row.refreshFamilySeconds,
    },
    postLogoutRedirectUris: JSON.parse(row.postLogoutRedirectUris),
    logoUri: row.logoUri,
    policyUri: row.policyUri,
    tosUri: row.tosUri,
    initiateLoginUri: row.initiateLoginUri,
    redirectUris: redirectUris.filter(isOwn).map(({ uri, instanceId }) => ({ uri, instanceId })),
    secrets: secrets.filter(isOwn).map(({ applicationId: _, ...secret }) => secret),
    version: row.version,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

export function toRow({
  tokenLifetimes,
  redirectUris: _,
  secrets: __,
  ...application
}: Application): Tables['applications'] {
  return {
    ...application,
    ...tokenLifetimes,
    enabled: application.enabled ? 1 : 0,
    allowedScopes: JSON.stringify(application.allowedScopes),
    allowedGrantTypes: JSON.stringify(application.allowedGrantTypes),
    requirePkce: application.requirePkce ? 1 : 0,
    firstParty: application.firstParty ? 1 : 0,
    signOutEndsTokens: application.signOutEndsTokens ? 1 : 0,
    postLogoutRedirectUris: JSON.stringify(application.postLogoutRedirectUris),
  };
}

/** In the order of registration. */
export function redirectUriRows({ id, redirectUris }: { id: string; redirectUris: readonly RedirectUri[] }) {
  return redirectUris.map(({ uri, instanceId }, position) => ({
    applicationId: id,
    uri,
    instanceId,
    position,
  }));
}
