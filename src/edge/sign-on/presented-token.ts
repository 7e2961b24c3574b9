import type { VerifiedAccessToken } from '../../../generated/proto/integration/sign_on/v1/tokens.js';
import type { SignOnDependencies } from './dependencies.js';

/** The format of our refresh tokens; the domain checks the HMAC. */
const REFRESH_TOKEN = /^[A-Za-z0-9_-]{16,1024}$/;
const JWT = /^([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** A token to introspect or revoke; undefined if it is not ours or has expired. */
export type PresentedToken =
  | { $case: 'accessToken'; value: VerifiedAccessToken }
  | { $case: 'refreshToken'; value: string }
  | undefined;

/** Decides by format alone: the hint of the request may be wrong. */
export async function presentedToken(
  token: string,
  { accessTokens }: Pick<SignOnDependencies, 'accessTokens'>,
): Promise<PresentedToken> {
  if (JWT.test(token)) {
    const value = await accessTokens.verify(token);
    return value && { $case: 'accessToken', value };
  }
  return REFRESH_TOKEN.test(token) ? { $case: 'refreshToken', value: token } : undefined;
}

/** Whether a token has the form of an ID token; unverified, which suffices to explain a refusal. */
export function looksLikeIdToken(token: string): boolean {
  const header = JWT.exec(token)?.[1];
  if (header === undefined) {
    return false;
  }
  try {
    const { typ } = JSON.parse(Buffer.from(header, 'base64url').toString('utf8')) as { typ?: unknown };
    return typ === 'JWT';
  } catch {
    return false;
  }
}
