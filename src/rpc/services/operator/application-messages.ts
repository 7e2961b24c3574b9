import {
  type Application as ApplicationMessage,
  ApplicationStatus,
  GrantType as GrantMessage,
  ApplicationType as TypeMessage,
} from '../../../../generated/proto/integration/operator/v1/applications.js';
import { SigningAlgorithm } from '../../../../generated/proto/integration/operator/v1/signing_keys.js';
import type {
  Application,
  ApplicationType,
  GrantType,
  TokenAlgorithm,
} from '../../../domain/operator/applications.js';
import { fromEnum, toDate } from './messages.js';

const TYPES: Record<ApplicationType, TypeMessage> = {
  confidential: TypeMessage.CONFIDENTIAL,
  public: TypeMessage.PUBLIC,
};
const GRANTS: Record<GrantType, GrantMessage> = {
  authorization_code: GrantMessage.AUTHORIZATION_CODE,
  refresh_token: GrantMessage.REFRESH_TOKEN,
};
const ALGORITHMS: Record<TokenAlgorithm, SigningAlgorithm> = {
  RS256: SigningAlgorithm.RS256,
  ES256: SigningAlgorithm.ES256,
  EdDSA: SigningAlgorithm.EDDSA,
};

export const fromType = fromEnum(TYPES);
export const fromGrant = fromEnum(GRANTS);
export const fromAlgorithm = fromEnum(ALGORITHMS);

export function toAlgorithm(algorithm: TokenAlgorithm): SigningAlgorithm {
  return ALGORITHMS[algorithm];
}

export function toMessage(application: Application): ApplicationMessage {
  const { id, name, type, enabled, tokenLifetimes, version } = application;
  return {
    id,
    name,
    type: TYPES[type],
    status: enabled ? ApplicationStatus.ENABLED : ApplicationStatus.DISABLED,
    allowedScopes: application.allowedScopes,
    allowedGrantTypes: application.allowedGrantTypes.map((grant) => GRANTS[grant]),
    requirePkce: application.requirePkce,
    firstParty: application.firstParty,
    signOutEndsTokens: application.signOutEndsTokens,
    idTokenAlgorithm: toAlgorithm(application.idTokenAlgorithm),
    tokenLifetimes: {
      accessTokenSeconds: tokenLifetimes.accessTokenSeconds ?? undefined,
      refreshTokenSeconds: tokenLifetimes.refreshTokenSeconds ?? undefined,
      idTokenSeconds: tokenLifetimes.idTokenSeconds ?? undefined,
      refreshFamilySeconds: tokenLifetimes.refreshFamilySeconds ?? undefined,
    },
    redirectUris: application.redirectUris,
    postLogoutRedirectUris: application.postLogoutRedirectUris,
    secrets: application.secrets.map((secret) => ({
      id: secret.id,
      createdAt: new Date(secret.createdAt),
      expiresAt: toDate(secret.expiresAt),
      lastUsedAt: toDate(secret.lastUsedAt),
    })),
    createdAt: new Date(application.createdAt),
    updatedAt: new Date(application.updatedAt),
    version,
  };
}
