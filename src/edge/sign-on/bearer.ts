import type { VerifiedAccessToken } from '../../../generated/proto/integration/sign_on/v1/tokens.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { ReceivedRequest } from '../contract/typed-handler.js';
import { parseAuthorization } from '../http/authorization.js';
import type { SignOnDependencies } from './dependencies.js';
import { invalidRequest, OAuthFields, refuseSecretsInQuery } from './oauth-fields.js';

/** No credentials were sent, so the challenge names no error (RFC 6750, section 3.1). */
export class NoAccessToken extends ServiceError {
  constructor() {
    super(ErrorCode.INVALID_TOKEN, 'Send the access token in the Authorization header.');
    this.name = 'NoAccessToken';
  }
}

/** The access token of the header or, where allowed, of the form; refuses both at once. */
export async function verifiedBearer(
  request: ReceivedRequest,
  { accessTokens }: Pick<SignOnDependencies, 'accessTokens'>,
): Promise<VerifiedAccessToken> {
  refuseSecretsInQuery(request);
  const inHeader = bearerInHeader(request);
  const inForm =
    request.body.kind === 'none' ? undefined : new OAuthFields(request.body).optional('access_token');
  if (inHeader !== undefined && inForm !== undefined) {
    throw invalidRequest('Send the access token in one place.');
  }
  const token = inHeader ?? inForm;
  if (token === undefined) {
    throw new NoAccessToken();
  }
  const verified = await accessTokens.verify(token);
  if (!verified) {
    throw new ServiceError(ErrorCode.INVALID_TOKEN, 'The access token is invalid or expired.');
  }
  request.note({ applicationId: verified.clientId, accountId: verified.accountId });
  return verified;
}

function bearerInHeader(request: ReceivedRequest): string | undefined {
  const header = request.header('authorization');
  const authorization = header === undefined ? undefined : parseAuthorization(header);
  if (authorization?.scheme === 'malformed' && authorization.wanted === 'bearer') {
    throw invalidRequest('The Authorization header does not hold one access token.');
  }
  return authorization?.scheme === 'bearer' ? authorization.token : undefined;
}
