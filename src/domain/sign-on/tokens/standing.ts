import type { Grant } from '../../credentials/access.js';
import type { AuditType } from '../../operator/audit-types.js';
import type { Application } from '../../operator/rows/applications.js';
import type { AuthorizationCode } from '../authorization/codes.js';
import { type AdmittedPerson, admitted, type Identity } from '../identity.js';
import type { TokenIssuer } from '../sign-on.js';
import type { ProvenClient } from './client-authentication.js';

/** A token to introspect or revoke; undefined if it is neither kind. */
export type PresentedToken =
  | { kind: 'access'; token: VerifiedAccessToken }
  | { kind: 'refresh'; token: string }
  | undefined;

/** For the audit log: an act on a grant, or on the code that makes it. */
export function actionOn(on: Grant | AuthorizationCode, type: AuditType, more: Record<string, string> = {}) {
  const grantId = 'grantId' in on ? on.grantId : on.id;
  const attributes = { grant_id: grantId, instance_id: on.instanceId, ...more };
  return { type, subject: { type: 'account', id: on.accountId }, attributes };
}

/** Counts a token that another application than its own has sent: it may be a stolen one. */
export function observeForeign(
  { observe }: Pick<TokenIssuer, 'observe'>,
  { actor }: Pick<ProvenClient, 'actor'>,
  kind: NonNullable<PresentedToken>['kind'],
  grant: Grant,
): void {
  observe({ actor, ...actionOn(grant, `${kind}_token.refused`), outcome: 'refused' });
}

/** The grant of a token, in any state and of any application. */
export async function grantBehind(
  { unitOfWork, refreshTokens }: TokenIssuer,
  presented: PresentedToken,
): Promise<{ grant: Grant; generation?: number } | undefined> {
  const named: { grantId: string; generation?: number } | undefined =
    presented?.kind === 'refresh' ? refreshTokens.open(presented.token) : presented?.token;
  const grant = named && (await unitOfWork.rows.grants.find(named.grantId));
  return grant && { grant, generation: named.generation };
}

/** An access token that was verified where it arrived. */
export interface VerifiedAccessToken {
  kid: string;
  tokenId: string;
  grantId: string;
  /** The application it was issued to. */
  clientId: string;
  accountId: string;
  scopes: readonly string[];
  issuedAt: number;
  expiresAt: number;
}

/** Checks key and expiry again: an edge may miss a withdrawn key, and passes on tokens after their expiry. */
export async function isStillValid(
  { keys, clock }: Pick<TokenIssuer, 'keys' | 'clock'>,
  { kid, expiresAt }: VerifiedAccessToken,
): Promise<boolean> {
  return expiresAt > clock() && (await keys.isKnown(kid));
}

/** The facts that a token depends on. */
export interface Standing {
  grant: Grant;
  application: Application;
  person: AdmittedPerson;
}

/**
 * Looks up on each use whether a token is still backed: not revoked, the application may still sign people in
 * on the instance, and its person has access.
 */
export async function standingOf(
  { unitOfWork, clock }: Pick<TokenIssuer, 'unitOfWork' | 'clock'>,
  grant: Grant | undefined,
  application: Application | undefined,
  /** Of the grant, if looked up before. */
  identity?: Identity,
): Promise<Standing | undefined> {
  if (!application?.enabled || grant?.applicationId !== application.id || !isInForce(grant, clock())) {
    return undefined;
  }
  if (!application.redirectUris.some(({ instanceId }) => instanceId === grant.instanceId)) {
    return undefined;
  }
  const { identities } = unitOfWork.rows;
  const person = admitted(identity ?? (await identities.find(grant.accountId, grant.instanceId)));
  return person && { grant, application, person };
}

function isInForce({ revokedAt, expiresAt }: Grant, now: number): boolean {
  return revokedAt === null && expiresAt > now;
}

/** Scopes that the operator removes from an application are removed from its grants at once. */
export function scopesInForce(
  scopes: readonly string[],
  { allowedScopes }: Pick<Application, 'allowedScopes'>,
): string[] {
  return scopes.filter((scope) => allowedScopes.includes(scope));
}
