import type { ApplicationId } from '../../../../generated/ids.js';
import type { Application } from '../../../domain/operator/applications.js';
import type { Schema } from '../../schema.js';

/** What belongs to some applications; hashes of secrets are not read for people to look at. */
export interface ApplicationParts {
  redirectUris: readonly Schema['application_redirect_uris'][];
  secrets: readonly Omit<Schema['application_secrets'], 'hash'>[];
}

export function toApplication(
  row: Schema['applications'],
  { redirectUris, secrets }: ApplicationParts,
): Application {
  const isOwn = (part: { application_id: string }) => part.application_id === row.id;
  return {
    id: row.id as ApplicationId,
    name: row.name,
    type: row.type,
    enabled: row.enabled === 1,
    allowedScopes: JSON.parse(row.allowed_scopes),
    allowedGrantTypes: JSON.parse(row.allowed_grant_types),
    requirePkce: row.require_pkce === 1,
    firstParty: row.first_party === 1,
    signOutEndsTokens: row.sign_out_ends_tokens === 1,
    idTokenAlgorithm: row.id_token_algorithm,
    tokenLifetimes: {
      accessTokenSeconds: row.access_token_seconds,
      refreshTokenSeconds: row.refresh_token_seconds,
      idTokenSeconds: row.id_token_seconds,
      refreshFamilySeconds: row.refresh_family_seconds,
    },
    postLogoutRedirectUris: JSON.parse(row.post_logout_redirect_uris),
    redirectUris: redirectUris.filter(isOwn).map(({ uri, instance_id: instanceId }) => ({ uri, instanceId })),
    secrets: secrets.filter(isOwn).map(({ id, created_at, expires_at, last_used_at }) => ({
      id,
      createdAt: created_at,
      expiresAt: expires_at,
      lastUsedAt: last_used_at,
    })),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function toRow(application: Application): Schema['applications'] {
  const { tokenLifetimes } = application;
  return {
    id: application.id,
    name: application.name,
    type: application.type,
    enabled: application.enabled ? 1 : 0,
    allowed_scopes: JSON.stringify(application.allowedScopes),
    allowed_grant_types: JSON.stringify(application.allowedGrantTypes),
    require_pkce: application.requirePkce ? 1 : 0,
    first_party: application.firstParty ? 1 : 0,
    sign_out_ends_tokens: application.signOutEndsTokens ? 1 : 0,
    id_token_algorithm: application.idTokenAlgorithm,
    access_token_seconds: tokenLifetimes.accessTokenSeconds,
    refresh_token_seconds: tokenLifetimes.refreshTokenSeconds,
    id_token_seconds: tokenLifetimes.idTokenSeconds,
    refresh_family_seconds: tokenLifetimes.refreshFamilySeconds,
    post_logout_redirect_uris: JSON.stringify(application.postLogoutRedirectUris),
    version: application.version,
    created_at: application.createdAt,
    updated_at: application.updatedAt,
  };
}
