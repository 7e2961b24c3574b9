import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { TokenIssuer } from '../sign-on.js';
import { actorOf, assertMayUse, authenticateClient, type PresentedClient } from './client-authentication.js';
import { actionOn, grantBehind, observeForeign, type PresentedToken } from './standing.js';

/** Ends the grant of any of its tokens, of any age. For unknown and ended tokens it succeeds. */
export async function revokeToken(
  issuer: TokenIssuer,
  client: PresentedClient,
  presented: PresentedToken,
): Promise<void> {
  const application = await authenticateClient(issuer, client);
  assertMayUse(issuer, client, application);
  const behind = await grantBehind(issuer, presented);
  if (!presented || !behind) {
    return;
  }
  const { grant } = behind;
  const actor = actorOf(client);
  if (grant.applicationId !== application.id) {
    observeForeign(issuer, { actor }, presented.kind, grant);
    throw new ServiceError(ErrorCode.INVALID_GRANT, 'The token was issued to another application.');
  }
  if (grant.revokedAt !== null) {
    return;
  }
  await issuer.unitOfWork.run(async (changes) => {
    if (await changes.grants.revoke(grant.id, issuer.clock())) {
      await changes.audit(actor, actionOn(grant, 'token.revoked'));
    }
  });
}
