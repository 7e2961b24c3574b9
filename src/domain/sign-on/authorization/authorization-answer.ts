import type { operations } from '../../../../generated/openapi/sign-on.js';
import type { AuthorizationRequest } from '../interaction/interactions.js';
import type { BrowserStep } from '../sessions/browser.js';
import { formActionSource, withAnswer } from './redirect-target.js';

type Answer = operations['authorizationResponse']['parameters']['query'];

/** The error for the application. The description is ASCII without quotation marks (RFC 6749, 4.1.2.1). */
export interface Refusal {
  error: NonNullable<Answer['error']>;
  description: string;
}

export const NO_ACCESS: Refusal = {
  error: 'access_denied',
  description: 'The person has no access on this instance.',
};

export const SIGN_IN_NEEDED: Refusal = {
  error: 'login_required',
  description: 'The person has to sign in.',
};

export const SERVER_ERROR: Refusal = {
  error: 'server_error',
  description: 'The request could not be completed.',
};

export const UNAVAILABLE: Refusal = {
  error: 'temporarily_unavailable',
  description: 'The server is briefly unable to answer.',
};

/** Who gets the answer, and how. The redirect URI is proven. */
export type Asker = Pick<AuthorizationRequest, 'redirectUri' | 'state' | 'responseMode'> & {
  applicationName: string;
};

export function refusalStep(issuer: string, asker: Asker, { error, description }: Refusal): BrowserStep {
  return answerStep(issuer, asker, { error, error_description: description });
}

export function codeStep(issuer: string, asker: Asker, code: string): BrowserStep {
  return answerStep(issuer, asker, { code });
}

/** Every answer has `iss`, so that a client of several servers cannot confuse them (RFC 9207). */
function answerStep(
  iss: string,
  { redirectUri, state, responseMode, applicationName }: Asker,
  answer: Readonly<Record<string, string>>,
): BrowserStep {
  const fields = { ...answer, ...(state !== null && { state }), iss };
  return responseMode === 'form_post'
    ? {
        kind: 'form_post',
        action: redirectUri,
        fields,
        applicationName,
        formActionSource: formActionSource(redirectUri),
      }
    : { kind: 'redirect', location: withAnswer(redirectUri, fields) };
}
