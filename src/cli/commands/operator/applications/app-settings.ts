import {
  GrantType,
  type TokenLifetimes,
} from '../../../../../generated/proto/integration/operator/v1/applications.js';
import { SigningAlgorithm } from '../../../../../generated/proto/integration/operator/v1/signing_keys.js';

const GRANTS = {
  authorization_code: GrantType.AUTHORIZATION_CODE,
  refresh_token: GrantType.REFRESH_TOKEN,
};
const ALGORITHMS = {
  RS256: SigningAlgorithm.RS256,
  ES256: SigningAlgorithm.ES256,
  EdDSA: SigningAlgorithm.EDDSA,
};

/** What can be set at registration and later, as typed. */
export interface SettingOptions {
  scope?: readonly string[];
  grantType?: readonly (keyof typeof GRANTS)[];
  pkce?: 'required' | 'optional';
  firstParty?: boolean;
  signOutEndsTokens?: boolean;
  idTokenAlgorithm?: keyof typeof ALGORITHMS;
  accessTokenLifetime?: number;
  refreshTokenLifetime?: number;
  idTokenLifetime?: number;
  refreshFamilyLifetime?: number;
  postLogoutRedirectUri?: readonly string[];
  /** The empty text removes an address. */
  logoUri?: string;
  policyUri?: string;
  tosUri?: string;
  initiateLoginUri?: string;
}

export function settingsOf(options: SettingOptions) {
  return {
    allowedScopes: [...(options.scope ?? [])],
    allowedGrantTypes: (options.grantType ?? []).map((name) => GRANTS[name]),
    requirePkce: options.pkce && options.pkce === 'required',
    idTokenAlgorithm: options.idTokenAlgorithm && ALGORITHMS[options.idTokenAlgorithm],
    tokenLifetimes: lifetimesOf(options),
    postLogoutRedirectUris: [...(options.postLogoutRedirectUri ?? [])],
    logoUri: options.logoUri,
    policyUri: options.policyUri,
    tosUri: options.tosUri,
    initiateLoginUri: options.initiateLoginUri,
  };
}

/** Undefined where no lifetime was typed. */
function lifetimesOf(options: SettingOptions): TokenLifetimes | undefined {
  const lifetimes = {
    accessTokenSeconds: options.accessTokenLifetime,
    refreshTokenSeconds: options.refreshTokenLifetime,
    idTokenSeconds: options.idTokenLifetime,
    refreshFamilySeconds: options.refreshFamilyLifetime,
  };
  return Object.values(lifetimes).some((value) => value !== undefined) ? lifetimes : undefined;
}

/** The typed fields, as the mask of an update names them. */
export function maskOf(options: SettingOptions): string[] {
  const given: Record<string, boolean> = {
    allowed_scopes: options.scope !== undefined,
    allowed_grant_types: options.grantType !== undefined,
    require_pkce: options.pkce !== undefined,
    first_party: options.firstParty !== undefined,
    sign_out_ends_tokens: options.signOutEndsTokens !== undefined,
    id_token_algorithm: options.idTokenAlgorithm !== undefined,
    token_lifetimes: lifetimesOf(options) !== undefined,
    post_logout_redirect_uris: options.postLogoutRedirectUri !== undefined,
    logo_uri: options.logoUri !== undefined,
    policy_uri: options.policyUri !== undefined,
    tos_uri: options.tosUri !== undefined,
    initiate_login_uri: options.initiateLoginUri !== undefined,
  };
  return Object.keys(given).filter((name) => given[name]);
}
