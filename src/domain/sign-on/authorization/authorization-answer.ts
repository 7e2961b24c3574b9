import type { AuthorizationRequest } from '../interaction/interactions.js';
import { withAnswer } from './redirect-target.js';

/** The `error` values for a redirect URI. */
export type AuthorizationError =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'login_required'
  | 'interaction_required'
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported';

/** The error for the application. The description is ASCII without quotation marks (RFC 6749, 4.1.2.1). */
export interface Refusal {
  error: AuthorizationError;
  description: string;
}

type Asker = Pick<AuthorizationRequest, 'redirectUri' | 'state'>;

/** Every answer has `iss`, so that a client of several servers cannot confuse them (RFC 9207). */
export function refusalLocation(
  issuer: string,
  { redirectUri, state }: Asker,
  { error, description }: Refusal,
): string {
  return withAnswer(redirectUri, { error, error_description: description, state, iss: issuer });
}

export function codeLocation(issuer: string, { redirectUri, state }: Asker, code: string): string {
  return withAnswer(redirectUri, { code, state, iss: issuer });
}
