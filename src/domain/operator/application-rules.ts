import { snakeCase, trimmed, type Update, updatedFields } from '../platform/changes.js';
import type { Violations } from '../platform/violations.js';
import { AFTER_LOGOUT, faultOfLink, faultOfLogo, faultOfRedirectUri } from './application-uris.js';
import type {
  Application,
  ApplicationLinks,
  ApplicationType,
  GrantType,
  RedirectUri,
  TokenAlgorithm,
  TokenLifetimes,
} from './rows/applications.js';

/** The scopes of the contract, which an application gets by default. */
export const SCOPES: readonly string[] = ['openid', 'profile', 'email'];

export const GRANT_TYPES: readonly GrantType[] = ['authorization_code', 'refresh_token'];

export const MAX_REDIRECT_URIS = 100;

const SHORTEST_SECONDS = 60;
const DAY_SECONDS = 86_400;
const LONGEST_SECONDS: Record<keyof TokenLifetimes, number> = {
  accessTokenSeconds: DAY_SECONDS,
  refreshTokenSeconds: 365 * DAY_SECONDS,
  idTokenSeconds: DAY_SECONDS,
  refreshFamilySeconds: 5 * 365 * DAY_SECONDS,
};

/** Settings for registration and updates; null clears a setting. */
export interface ApplicationFields extends GivenLinks {
  name?: string;
  allowedScopes?: readonly string[];
  allowedGrantTypes?: readonly (GrantType | undefined)[];
  requirePkce?: boolean;
  firstParty?: boolean;
  signOutEndsTokens?: boolean;
  idTokenAlgorithm?: TokenAlgorithm;
  tokenLifetimes?: Partial<TokenLifetimes> | null;
  postLogoutRedirectUris?: readonly string[] | null;
}

export function validateFields(
  violations: Violations,
  type: ApplicationType,
  fields: ApplicationFields,
): void {
  const { name, allowedScopes, allowedGrantTypes, requirePkce, tokenLifetimes } = fields;
  violations.givenText('name', name);
  validateScopes(violations, allowedScopes ?? []);
  validateGrantTypes(violations, allowedGrantTypes ?? []);
  if (requirePkce === false && type === 'public') {
    violations.add('require_pkce', 'must be true for a public application');
  }
  validateLifetimes(violations, tokenLifetimes ?? {});
  validatePostLogout(violations, type, fields.postLogoutRedirectUris ?? []);
}

export function validateRedirectUri(
  violations: Violations,
  path: string,
  { uri }: RedirectUri,
  type: ApplicationType,
): void {
  const fault = faultOfRedirectUri(uri, type);
  if (fault) {
    violations.add(`${path}.uri`, fault);
  }
}

export function validateRedirectUris(
  violations: Violations,
  uris: readonly RedirectUri[],
  type: ApplicationType,
): void {
  const checked = violations.listOfAtMost(MAX_REDIRECT_URIS, 'redirect_uris', uris);
  checked.forEach((redirectUri, index) => {
    validateRedirectUri(violations, `redirect_uris[${index}]`, redirectUri, type);
    if (uris.findIndex(({ uri }) => uri === redirectUri.uri) < index) {
      violations.add(`redirect_uris[${index}].uri`, 'must not repeat an earlier redirect URI');
    }
  });
}

/** Lists are compared in stored form: without repetitions, in a fixed order. */
export function inOrder<T>(all: readonly T[], chosen: readonly unknown[]): T[] {
  return all.filter((one) => chosen.includes(one));
}

function toLifetimes(given: Partial<TokenLifetimes> | null): TokenLifetimes {
  return {
    accessTokenSeconds: given?.accessTokenSeconds ?? null,
    refreshTokenSeconds: given?.refreshTokenSeconds ?? null,
    idTokenSeconds: given?.idTokenSeconds ?? null,
    refreshFamilySeconds: given?.refreshFamilySeconds ?? null,
  };
}

function validateScopes(violations: Violations, scopes: readonly string[]): void {
  violations.items('allowed_scopes', scopes, (scope) =>
    SCOPES.includes(scope) ? undefined : `must be one of ${SCOPES.join(', ')}`,
  );
}

function validateGrantTypes(violations: Violations, grants: readonly (GrantType | undefined)[]): void {
  violations.items('allowed_grant_types', grants, (grant) =>
    grant === undefined ? 'must be a grant type of the contract' : undefined,
  );
  if (grants.length > 0 && !grants.includes('authorization_code')) {
    violations.add('allowed_grant_types', 'must include authorization_code, with which all others begin');
  }
}

function validateLifetimes(violations: Violations, lifetimes: Partial<TokenLifetimes>): void {
  for (const name of Object.keys(LONGEST_SECONDS) as (keyof TokenLifetimes)[]) {
    const seconds = lifetimes[name];
    if (seconds != null && (seconds < SHORTEST_SECONDS || seconds > LONGEST_SECONDS[name])) {
      const message = `must be between ${SHORTEST_SECONDS} and ${LONGEST_SECONDS[name]}`;
      violations.add(`token_lifetimes.${snakeCase(name)}`, message);
    }
  }
}

function validatePostLogout(violations: Violations, type: ApplicationType, uris: readonly string[]): void {
  const path = 'post_logout_redirect_uris';
  violations.items(path, violations.listOfAtMost(MAX_REDIRECT_URIS, path, uris), (uri) =>
    faultOfRedirectUri(uri, type, AFTER_LOGOUT),
  );
}

export const NO_LINKS: ApplicationLinks = {
  logoUri: null,
  policyUri: null,
  tosUri: null,
  initiateLoginUri: null,
};

const LINK_NAMES = Object.keys(NO_LINKS) as (keyof ApplicationLinks)[];

/** An empty text or null removes a link. */
type GivenLinks = { [Name in keyof ApplicationLinks]?: string | null | undefined };

export function validateLinks(violations: Violations, environment: 'live' | 'demo', given: GivenLinks): void {
  for (const name of LINK_NAMES) {
    const uri = given[name];
    const faultOf = name === 'logoUri' ? faultOfLogo : faultOfLink;
    const fault = uri ? faultOf(uri, environment) : undefined;
    if (fault) {
      violations.add(snakeCase(name), fault);
    }
  }
}

const KEPT = [
  'name',
  'allowedScopes',
  'allowedGrantTypes',
  'requirePkce',
  'firstParty',
  'signOutEndsTokens',
  'idTokenAlgorithm',
] as const;
const CLEARABLE = ['tokenLifetimes', 'postLogoutRedirectUris', ...LINK_NAMES] as const;

/** The settings that a registration or update gives. */
export function chosenSettings(request: ApplicationFields & Update) {
  return updatedFields(trimmed(request, 'name'), KEPT, CLEARABLE);
}

/** Of an application that is registered without them. */
export const DEFAULT_SETTINGS = {
  ...NO_LINKS,
  allowedScopes: [...SCOPES],
  allowedGrantTypes: [...GRANT_TYPES],
  requirePkce: true,
  signOutEndsTokens: false,
  idTokenAlgorithm: 'RS256',
  tokenLifetimes: toLifetimes(null),
  postLogoutRedirectUris: [],
} satisfies Partial<Application>;

/** Chosen settings in stored form. */
export function storedSettings({
  allowedScopes,
  allowedGrantTypes,
  tokenLifetimes,
  postLogoutRedirectUris,
  ...plain
}: ReturnType<typeof chosenSettings>) {
  const links = LINK_NAMES.filter((name) => plain[name] !== undefined);
  return {
    ...plain,
    ...(Object.fromEntries(links.map((name) => [name, plain[name] || null])) as Partial<ApplicationLinks>),
    ...(allowedScopes && { allowedScopes: inOrder(SCOPES, allowedScopes) }),
    ...(allowedGrantTypes && { allowedGrantTypes: inOrder(GRANT_TYPES, allowedGrantTypes) }),
    ...(tokenLifetimes !== undefined && { tokenLifetimes: toLifetimes(tokenLifetimes) }),
    ...(postLogoutRedirectUris !== undefined && {
      postLogoutRedirectUris: [...new Set(postLogoutRedirectUris)],
    }),
  };
}
