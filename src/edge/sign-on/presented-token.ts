import type { VerifiedAccessToken } from '../../../generated/proto/integration/sign_on/v1/tokens.js';
import type { SignOnDependencies } from './dependencies.js';

/** As this server writes refresh tokens; whether it wrote this one, their HMAC tells the domain. */
const REFRESH_TOKEN = /^[A-Za-z0-9_-]{16,1024}$/;
const JWT = /^([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** What an application asks about or wants to end: undefined for what is no token of ours, or over. */
export type PresentedToken =
  | { $case: 'accessToken'; value: VerifiedAccessToken }
  | { $case: 'refreshToken'; value: string }
  | undefined;

/** By its form alone: the hint of the request may be wrong, and helps nobody who can tell by looking. */
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

/** Whether a token says of itself that it is an ID token; unproven, which is enough to explain a refusal. */
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
