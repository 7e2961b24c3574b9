import type {
  AccountId,
  ApplicationId,
  ClientId,
  UserId,
  WorkerId,
  WorkerProfileId,
} from '../../../../generated/ids.js';
import type { components } from '../../../../generated/openapi/sign-on.js';
import { UserType } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import type { IdentityClaims } from '../../../../generated/proto/integration/sign_on/v1/tokens.js';
import { present } from '../../../errors/service-error.js';
import { verifiedBearer } from '../oauth-request.js';
import { NO_STORE, type OAuthHandler } from '../sign-on-handler.js';

/** By GET or by POST. */
export const userinfo: OAuthHandler<'userinfo' | 'userinfoPost'> = async (request, dependencies) => {
  const accessToken = await verifiedBearer(request, dependencies);
  const { claims } = await dependencies.signOn.getUserinfo({ accessToken }, { requestId: request.requestId });
  return { status: 200, headers: NO_STORE, body: toClaims(present(claims)) };
};

/** Claims outside the scopes and unknown names are absent. */
function toClaims(claims: IdentityClaims): components['schemas']['UserinfoClaims'] {
  const { userType, clientId } = present(claims.lastLoginContext);
  return {
    sub: claims.sub as AccountId,
    aud: claims.aud as ApplicationId,
    name: claims.name,
    firstName: claims.firstName,
    lastName: claims.lastName,
    given_name: claims.firstName,
    family_name: claims.lastName,
    email: claims.email,
    email_verified: claims.emailVerified,
    workerProfileId: claims.workerProfileId as WorkerProfileId,
    userIds: claims.userIds.map((user) => ({ id: user.id as UserId, clientId: user.clientId as ClientId })),
    workerIds: claims.workerIds.map((worker) => ({
      id: worker.id as WorkerId,
      clientId: worker.clientId as ClientId,
    })),
    lastLoginContext: {
      userType: userType === UserType.USER ? 'USER' : 'WORKER',
      clientId: clientId as ClientId,
    },
  };
}
