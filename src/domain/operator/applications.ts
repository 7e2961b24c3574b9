import type { ApplicationId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { newPublicId } from '../../identifiers/public-id.js';
import type { PageRequest } from '../directory/page.js';
import { assertExpectedVersion, changedFields, changesAnything, updatedFields } from '../platform/changes.js';
import { Violations } from '../platform/violations.js';
import { newVersion } from '../version.js';
import {
  type ApplicationFields,
  GRANT_TYPES,
  inOrder,
  SCOPES,
  toKept,
  toLifetimes,
  validateFields,
  validateRedirectUris,
} from './application-rules.js';
import { type ApplicationSecret, newSecret, type SecretRows } from './application-secrets.js';
import { requireInstance } from './instances.js';
import type { OperatorChanges, OperatorRows } from './unit-of-work.js';

export type ApplicationType = 'confidential' | 'public';
export type GrantType = 'authorization_code' | 'refresh_token';
export type TokenAlgorithm = 'RS256' | 'ES256' | 'EdDSA';

/** Null where the service's default holds. */
export interface TokenLifetimes {
  accessTokenSeconds: number | null;
  refreshTokenSeconds: number | null;
  idTokenSeconds: number | null;
  /** However often they are rotated. */
  refreshFamilySeconds: number | null;
}

/** Where people return after signing in, and the one instance they signed in to. */
export interface RedirectUri {
  uri: string;
  instanceId: string;
}

/** What people sign in to; its id is the `client_id`. */
export interface Application {
  id: ApplicationId;
  name: string;
  type: ApplicationType;
  enabled: boolean;
  allowedScopes: string[];
  allowedGrantTypes: GrantType[];
  requirePkce: boolean;
  firstParty: boolean;
  /** Whether signing out of a session ends the tokens that the application got in it. */
  signOutEndsTokens: boolean;
  idTokenAlgorithm: TokenAlgorithm;
  tokenLifetimes: TokenLifetimes;
  postLogoutRedirectUris: string[];
  redirectUris: RedirectUri[];
  secrets: ApplicationSecret[];
  version: string;
  createdAt: number;
  updatedAt: number;
}

export interface ApplicationRows extends SecretRows {
  find(id: string): Promise<Application | undefined>;
  /** Newest first; only those with a redirect URI for the instance, if one is named. */
  page(page: PageRequest, instanceId: string | undefined): Promise<Application[]>;
  /** With its redirect URIs; secrets have calls of their own. */
  insert(application: Application): Promise<void>;
  /** Everything but redirect URIs and secrets. */
  update(application: Application): Promise<void>;
  insertRedirectUri(id: ApplicationId, redirectUri: RedirectUri): Promise<void>;
  deleteRedirectUri(id: ApplicationId, uri: string): Promise<void>;
}

export interface ApplicationCreation extends ApplicationFields {
  name: string;
  type: ApplicationType | undefined;
  redirectUris: readonly RedirectUri[];
  firstParty: boolean;
  signOutEndsTokens?: boolean;
  idTokenAlgorithm?: TokenAlgorithm;
}

export async function createApplication(
  changes: OperatorChanges,
  environment: 'live' | 'demo',
  creation: ApplicationCreation,
): Promise<{ application: Application; clientSecret: string | undefined }> {
  const type = checkedType(creation);
  const redirectUris: RedirectUri[] = [];
  await changes.lock(...new Set(creation.redirectUris.map(({ instanceId }) => instanceId).sort()));
  for (const [index, { uri, instanceId }] of creation.redirectUris.entries()) {
    const instance = await requireInstance(changes, instanceId, `redirect_uris[${index}].instance_id`);
    redirectUris.push({ uri, instanceId: instance.id });
  }
  const application: Application = {
    id: newPublicId('ApplicationId'),
    ...settingsOf(creation),
    type,
    enabled: true,
    redirectUris,
    secrets: [],
    version: newVersion(),
    createdAt: changes.now,
    updatedAt: changes.now,
  };
  await changes.applications.insert(application);
  await recordApplication(changes, 'created', application);
  if (type === 'public') {
    return { application, clientSecret: undefined };
  }
  const { secret, clientSecret } = await newSecret(changes, environment, application.id);
  return { application: { ...application, secrets: [secret] }, clientSecret };
}

export async function getApplication(
  rows: Pick<OperatorRows, 'applications'>,
  id: string,
): Promise<Application> {
  const application = await rows.applications.find(id);
  if (!application) {
    throw new ServiceError(ErrorCode.APPLICATION_NOT_FOUND, 'There is no such application.');
  }
  return application;
}

export interface ApplicationUpdate extends ApplicationFields {
  applicationId: string;
  firstParty?: boolean;
  signOutEndsTokens?: boolean;
  idTokenAlgorithm?: TokenAlgorithm;
  updateMask?: readonly string[];
  expectedVersion?: string;
}

export async function updateApplication(
  changes: OperatorChanges,
  { applicationId, updateMask, expectedVersion, ...given }: ApplicationUpdate,
): Promise<Application> {
  // In a message an empty list and an absent one are the same.
  const orAbsent = <T>(list: readonly T[] | null | undefined) => (list?.length ? list : undefined);
  const values = {
    name: given.name?.trim(),
    allowedScopes: orAbsent(given.allowedScopes),
    allowedGrantTypes: orAbsent(given.allowedGrantTypes),
    requirePkce: given.requirePkce,
    firstParty: given.firstParty,
    signOutEndsTokens: given.signOutEndsTokens,
    idTokenAlgorithm: given.idTokenAlgorithm,
    tokenLifetimes: given.tokenLifetimes,
    postLogoutRedirectUris: orAbsent(given.postLogoutRedirectUris),
  };
  const chosen = updatedFields(values, updateMask, ['tokenLifetimes', 'postLogoutRedirectUris']);
  const present = await lockedApplication(changes, applicationId);
  const violations = new Violations();
  validateFields(violations, present.type, chosen);
  violations.throwIfAny();
  assertExpectedVersion(present, expectedVersion);
  const { firstParty, signOutEndsTokens, idTokenAlgorithm } = chosen;
  return writeApplication(changes, 'updated', present, {
    ...toKept(chosen),
    ...(typeof firstParty === 'boolean' && { firstParty }),
    ...(typeof signOutEndsTokens === 'boolean' && { signOutEndsTokens }),
    ...(idTokenAlgorithm && { idTokenAlgorithm }),
  });
}

export async function setApplicationEnabled(
  changes: OperatorChanges,
  id: string,
  enabled: boolean,
): Promise<Application> {
  const present = await lockedApplication(changes, id);
  return writeApplication(changes, enabled ? 'enabled' : 'disabled', present, { enabled });
}

export async function lockedApplication(changes: OperatorChanges, id: string): Promise<Application> {
  await changes.lock(id);
  return getApplication(changes, id);
}

/** Writes the fields if they change anything, with a new version and an audit event. */
async function writeApplication(
  changes: OperatorChanges,
  what: string,
  present: Application,
  fields: Partial<Application>,
): Promise<Application> {
  if (!changesAnything<Application>(present, fields)) {
    return present;
  }
  const changed = { ...present, ...fields, version: newVersion(), updatedAt: changes.now };
  await changes.applications.update(changed);
  await recordApplication(changes, what, changed, changedFields(present, changed));
  return changed;
}

export function recordApplication(
  changes: OperatorChanges,
  what: string,
  { id }: Application,
  attributes?: Record<string, string>,
): Promise<void> {
  const subject = { type: 'application', id };
  return changes.record({ type: `application.${what}`, subject, attributes });
}

/** Names every fault of the request that can be seen without the database. */
function checkedType(creation: ApplicationCreation): ApplicationType {
  const violations = new Violations();
  const { type = 'public' } = creation;
  if (creation.type === undefined) {
    violations.add('type', 'must be confidential or public');
  }
  validateFields(violations, type, creation);
  validateRedirectUris(violations, creation.redirectUris, type);
  violations.throwIfAny();
  return type;
}

/** As it is kept; what the creation leaves out has its default. */
function settingsOf(creation: ApplicationCreation) {
  const scopes = creation.allowedScopes ?? [];
  const grants = (creation.allowedGrantTypes ?? []) as readonly GrantType[];
  return {
    name: creation.name.trim(),
    allowedScopes: scopes.length > 0 ? inOrder(SCOPES, scopes) : [...SCOPES],
    allowedGrantTypes: grants.length > 0 ? inOrder(GRANT_TYPES, grants) : [...GRANT_TYPES],
    requirePkce: creation.requirePkce ?? true,
    firstParty: creation.firstParty,
    signOutEndsTokens: creation.signOutEndsTokens ?? false,
    idTokenAlgorithm: creation.idTokenAlgorithm ?? ('RS256' as const),
    tokenLifetimes: toLifetimes(creation.tokenLifetimes),
    postLogoutRedirectUris: [...new Set(creation.postLogoutRedirectUris ?? [])],
  };
}

/** The application with a new version, as what belongs to it now stands. */
export async function renewed(changes: OperatorChanges, present: Application): Promise<Application> {
  await changes.applications.update({ ...present, version: newVersion(), updatedAt: changes.now });
  return getApplication(changes, present.id);
}
