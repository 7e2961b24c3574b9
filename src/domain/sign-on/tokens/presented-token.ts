import type { Grant } from '../../credentials/grants.js';
import type { TokenIssuer } from './token-issuer.js';
import type { VerifiedAccessToken } from './verified-access-token.js';

/** A token to introspect or revoke; undefined if it is neither kind. */
export type PresentedToken =
  | { kind: 'access'; token: VerifiedAccessToken }
  | { kind: 'refresh'; token: string }
  | undefined;

/** The grant of a token, in any state and of any application. */
export async function grantBehind(
  { unitOfWork, refreshTokens }: TokenIssuer,
  presented: PresentedToken,
): Promise<{ grant: Grant; generation?: number } | undefined> {
  if (!presented) {
    return undefined;
  }
  const { grantId, generation } =
    presented.kind === 'access'
      ? { grantId: presented.token.grantId, generation: undefined }
      : (refreshTokens.open(presented.token) ?? {});
  const grant = grantId === undefined ? undefined : await unitOfWork.rows.grants.find(grantId);
  return grant && { grant, generation };
}
