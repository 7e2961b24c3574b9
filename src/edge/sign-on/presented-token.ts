import type { ReceivedRequest } from '../contract/typed-handler.js';
import { authenticationOf } from './client-authentication.js';
import type { SignOnDependencies } from './dependencies.js';
import { OAuthFields, refuseSecretsInQuery } from './oauth-fields.js';

/** The format of our refresh tokens; the domain checks the HMAC. */
const REFRESH_TOKEN = /^[A-Za-z0-9_-]{16,1024}$/;
const JWT = /^([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** The application that introspects or revokes a token, and the token; undefined if not ours or expired. */
export async function presentedToken(request: ReceivedRequest, dependencies: SignOnDependencies) {
  refuseSecretsInQuery(request);
  const fields = new OAuthFields(request.body);
  const client = authenticationOf(request, fields, dependencies.environment);
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
