import type { Grant } from '../../credentials/grants.js';
import type { Application } from '../../operator/rows/applications.js';
import { type AdmittedPerson, admitted, type Identity } from '../identity.js';
import type { TokenIssuer } from '../sign-on.js';

/** The facts that a token depends on. */
export interface Standing {
  grant: Grant;
  application: Application;
  person: AdmittedPerson;
}

/** Looks up on each use whether a token is still backed: not revoked, and its person has access. */
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
