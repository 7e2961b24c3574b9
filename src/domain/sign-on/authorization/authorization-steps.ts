import type { AccountId } from '../../../../generated/ids.js';
import type { AuthorizationRequest } from '../interaction/interactions.js';
import type { TokenKeys } from '../keys/signing.js';
import type { Refusal } from './authorization-answer.js';
import { faultOfParameter, MAX_QUERY_LENGTH, PARAMETER_NAMES, queryOf } from './authorization-parameters.js';
import type { ProvenRequest } from './authorization-request.js';
import { faultOfFormPost } from './redirect-target.js';
import { parseMaxAge, parsePrompts, parseScopes } from './request-parsers.js';
import { parseClaims } from './requested-claims.js';

/** The results of the steps. */
export interface RequestParts
  extends Pick<
    AuthorizationRequest,
    'scopes' | 'nonce' | 'codeChallenge' | 'prompts' | 'maxAgeSeconds' | 'loginHint' | 'hintedAccountId'
  > {
  silent: boolean;
}

type StepContext = ProvenRequest & { keys: Pick<TokenKeys, 'read'> };

type Outcome = Refusal | Partial<RequestParts>;

type Step = (context: StepContext) => Outcome | Promise<Outcome>;

const FINE = {};

/** After client and redirect URI. The first refusal is the answer, so the order is part of the contract. */
export const REQUEST_STEPS: readonly Step[] = [
  mayAsk,
  hasNoRequestObject,
  // No parameter is repeated, too long or impossible to keep.
  isReadable,
  isShort,
  wantsCode,
  wantsKnownMode,
  takeScopes,
  takeChallenge,
  takePrompts,
  takeMaxAge,
  takeClaims,
  // If it can be read, it is of the application.
  takeIdTokenHint,
  // What is only passed on.
  takeTexts,
];

function mayAsk({ application }: StepContext): Outcome {
  return application.enabled && application.allowedGrantTypes.includes('authorization_code')
    ? FINE
    : { error: 'unauthorized_client', description: 'The application may not sign people in.' };
}

function hasNoRequestObject({ parameters: { request, requestUri } }: StepContext): Outcome {
  if (request !== undefined) {
    return { error: 'request_not_supported', description: 'Request objects are not supported.' };
  }
  if (requestUri !== undefined) {
    return { error: 'request_uri_not_supported', description: 'Request objects are not supported.' };
  }
  return FINE;
}

function isReadable({ parameters }: StepContext): Outcome {
  for (const name of PARAMETER_NAMES) {
    const fault = faultOfParameter(parameters, name);
    if (fault !== undefined) {
      return invalid(fault);
    }
  }
  return FINE;
}

function isShort({ parameters }: StepContext): Outcome {
  return queryOf(parameters).length <= MAX_QUERY_LENGTH
    ? FINE
    : invalid(`The request is longer than ${MAX_QUERY_LENGTH} characters.`);
}

function wantsCode({ parameters: { responseType } }: StepContext): Outcome {
  if (responseType === undefined) {
    return invalid('response_type is missing.');
  }
  return responseType === 'code'
    ? FINE
    : { error: 'unsupported_response_type', description: 'response_type must be code.' };
}

function wantsKnownMode({
  parameters: { responseMode = 'query', state },
  redirectUri,
}: StepContext): Outcome {
  if (responseMode === 'query') {
    return FINE;
  }
  if (responseMode !== 'form_post') {
    return invalid('response_mode must be query or form_post.');
  }
  const fault = faultOfFormPost(redirectUri, state);
  return fault === undefined ? FINE : invalid(fault);
}

/** Anyone can send it, and applications show the description: neither markup nor a sentence. */
const REPEATABLE_SCOPE = /^[\w:.-]{1,40}$/;

function takeScopes({ parameters: { scope }, application }: StepContext): Outcome {
  const refused = (description: string) => ({ error: 'invalid_scope' as const, description });
  if (scope === undefined) {
    return refused('scope is missing; ask for at least one.');
  }
  const scopes = parseScopes(scope);
  if (!scopes) {
    return refused('scope must be names with one space between them.');
  }
  const { known, unknown } = scopes;
  if (unknown.length > 0) {
    const named = unknown.find((one) => REPEATABLE_SCOPE.test(one));
    return refused(
      named === undefined
        ? 'scope has one that this server does not know.'
        : `This server does not know the scope ${named}.`,
    );
  }
  const foreign = known.find((one) => !application.allowedScopes.includes(one));
  return foreign === undefined
    ? { scopes: known }
    : refused(`The scope ${foreign} is not registered for this application.`);
}

/** SHA-256 in base64url: of the last character only four bits count, so others match no verifier. */
const S256_CHALLENGE = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

function takeChallenge({ parameters, application }: StepContext): Outcome {
  const { codeChallenge, codeChallengeMethod } = parameters;
  if (codeChallenge === undefined) {
    if (codeChallengeMethod !== undefined) {
      return invalid('code_challenge_method needs code_challenge.');
    }
    // A public application has no other binding of the code.
    return application.type === 'public' || application.requirePkce
      ? invalid('code_challenge is missing; this application must use PKCE.')
      : FINE;
  }
  if (codeChallengeMethod !== 'S256') {
    // The default method of RFC 7636 is `plain`, which does not protect against readers of the request.
    return invalid('code_challenge_method must be S256.');
  }
  return S256_CHALLENGE.test(codeChallenge)
    ? { codeChallenge }
    : invalid('code_challenge must be the SHA-256 of the verifier in base64url, 43 characters.');
}

function takePrompts({ parameters: { prompt } }: StepContext): Outcome {
  if (prompt === undefined) {
    return FINE;
  }
  return (
    parsePrompts(prompt) ??
    invalid('prompt must be none alone, or some of login, consent and select_account.')
  );
}

function takeMaxAge({ parameters: { maxAge } }: StepContext): Outcome {
  if (maxAge === undefined) {
    return FINE;
  }
  const maxAgeSeconds = parseMaxAge(maxAge);
  return maxAgeSeconds === undefined
    ? invalid('max_age must be a number of seconds, 0 or more.')
    : { maxAgeSeconds };
}

function takeClaims({ parameters: { claims } }: StepContext): Outcome {
  if (claims === undefined) {
    return FINE;
  }
  const asked = parseClaims(claims);
  if (!asked) {
    return invalid(
      'claims must be the JSON of OpenID Connect Core, section 5.5, and sub at most one person.',
    );
  }
  if (asked.impossibleContextClass) {
    // OpenID Connect Core, 5.5.1.1: an essential claim that cannot be met is a failed authentication.
    return {
      error: 'access_denied',
      description: 'The claim acr is essential, and no sign-in has its values.',
    };
  }
  return asked.subject === null ? FINE : hinted(asked.subject);
}

/**
 * Refuses a hint of another application, which would disclose its users. An unreadable hint is ignored; but
 * with `prompt=none` the expected person is then unknown.
 */
async function takeIdTokenHint({
  parameters: { idTokenHint, prompt },
  application,
  keys,
}: StepContext): Promise<Outcome> {
  if (idTokenHint === undefined) {
    return FINE;
  }
  const hint = await keys.read(idTokenHint);
  if (!hint) {
    return prompt === 'none'
      ? {
          error: 'login_required',
          description: 'id_token_hint cannot be read, so the person has to sign in.',
        }
      : FINE;
  }
  return hint.applicationId === application.id
    ? hinted(hint.accountId)
    : invalid('id_token_hint must be an ID token that this server gave this application.');
}

function takeTexts({ parameters: { nonce, loginHint } }: StepContext): Outcome {
  return { nonce: nonce ?? null, loginHint: loginHint ?? null };
}

function hinted(accountId: string): Outcome {
  return { hintedAccountId: accountId as AccountId };
}

function invalid(description: string): Refusal {
  return { error: 'invalid_request', description };
}
