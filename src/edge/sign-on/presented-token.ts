import type { VerifiedAccessToken } from '../../../generated/proto/integration/sign_on/v1/tokens.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { ReceivedRequest } from '../contract/typed-handler.js';
import { parseAuthorization } from '../http/parsers.js';
import { fromApplication, invalidRequest, OAuthFields, refuseSecretsInQuery } from './oauth-request.js';
import type { SignOnDependencies } from './sign-on-handler.js';

/** The format of our refresh tokens; the domain checks the HMAC. */
const REFRESH_TOKEN = /^[A-Za-z0-9_-]{16,1024}$/;
const JWT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/;

/** The application that introspects or revokes a token, and the token; undefined if not ours or expired. */
export async function presentedToken(request: ReceivedRequest, dependencies: SignOnDependencies) {
  const { fields, client } = fromApplication(request, dependencies);
  const presented = fields.required('token');
  // The hint may be wrong, so the format alone decides.
  fields.optional('token_type_hint');
  return { client, presented, token: await tokenOf(presented, dependencies) };
}

async function tokenOf(text: string, { accessTokens }: SignOnDependencies) {
  if (JWT.test(text)) {
    const value = await accessTokens.verify(text);
    return value && { $case: 'accessToken' as const, value };
  }
  return REFRESH_TOKEN.test(text) ? { $case: 'refreshToken' as const, value: text } : undefined;
}

/** Whether a token has the form of our ID tokens; unverified, which suffices to explain a refusal. */
export function looksLikeIdToken(token: string, issuer: string): boolean {
  const [, header, payload] = JWT.exec(token) ?? [];
  if (header === undefined || payload === undefined) {
    return false;
  }
  try {
    return partOf(header).typ === 'JWT' && partOf(payload).iss === issuer;
  } catch {
    return false;
  }
}

function partOf(encoded: string): { typ?: unknown; iss?: unknown } {
  return JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
}

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
  Object.assign(request.facts, { applicationId: verified.clientId, accountId: verified.accountId });
  return verified;
}

function bearerInHeader(request: ReceivedRequest): string | undefined {
  const header = request.headers.authorization;
  const authorization = header === undefined ? undefined : parseAuthorization(header);
  if (authorization?.scheme === 'malformed' && authorization.wanted === 'bearer') {
    throw invalidRequest('The Authorization header does not hold one access token.');
  }
  return authorization?.scheme === 'bearer' ? authorization.token : undefined;
}
