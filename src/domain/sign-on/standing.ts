import type { Grant } from '../credentials/grants.js';
import type { Application } from '../operator/applications.js';
import { type AdmittedPerson, admitted } from './admission.js';
import type { TokenIssuer } from './token-issuer.js';

/** What a token stands on. */
export interface Standing {
  grant: Grant;
  application: Application;
  person: AdmittedPerson;
}

/**
 * What stands behind a token, looked up anew each time it is shown: what was revoked or disabled, and who has nothing left there to sign in for, stops here at once.
 */
export async function standingOf(
  { unitOfWork, clock }: Pick<TokenIssuer, 'unitOfWork' | 'clock'>,
  grant: Grant | undefined,
  application: Application | undefined,
): Promise<Standing | undefined> {
  if (!application?.enabled || grant?.applicationId !== application.id || !isInForce(grant, clock())) {
    return undefined;
  }
  const person = admitted(await unitOfWork.rows.identities.find(grant.accountId, grant.instanceId));
  return person && { grant, application, person };
}

function isInForce({ revokedAt, expiresAt }: Grant, now: number): boolean {
  return revokedAt === null && expiresAt > now;
}
