import type { ApplicationId } from '../../../../generated/ids.js';
import type { Application, RedirectUri } from '../../../domain/operator/rows/applications.js';
import type { Tables } from '../../camel-case.js';

/** The parts of applications, without hashes of secrets. */
export interface ApplicationParts {
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
    links: {
      logoUri: row.logoUri,
      policyUri: row.policyUri,
      tosUri: row.tosUri,
      initiateLoginUri: row.initiateLoginUri,
    },
    redirectUris: redirectUris.filter(isOwn).map(({ uri, instanceId }) => ({ uri, instanceId })),
    secrets: secrets.filter(isOwn).map(({ applicationId: _, ...secret }) => secret),
    version: row.version,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

export function toRow({
  tokenLifetimes,
  links,
  redirectUris: _,
  secrets: __,
  ...application
}: Application): Tables['applications'] {
  return {
    ...application,
    ...tokenLifetimes,
    ...links,
    enabled: application.enabled ? 1 : 0,
    allowedScopes: JSON.stringify(application.allowedScopes),
    allowedGrantTypes: JSON.stringify(application.allowedGrantTypes),
    requirePkce: application.requirePkce ? 1 : 0,
    firstParty: application.firstParty ? 1 : 0,
    signOutEndsTokens: application.signOutEndsTokens ? 1 : 0,
    postLogoutRedirectUris: JSON.stringify(application.postLogoutRedirectUris),
  };
}

interface RegisteredUris {
  id: string;
  redirectUris: readonly RedirectUri[];
}

/** In the order of registration. */
export function redirectUriRows({ id, redirectUris }: RegisteredUris) {
  return redirectUris.map(({ uri, instanceId }, position) => ({
    applicationId: id,
    uri,
    instanceId,
    position,
  }));
}
