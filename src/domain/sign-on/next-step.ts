import type { AccountId } from '../../../generated/ids.js';
import type { Session } from '../credentials/sessions.js';
import type { Application } from '../operator/applications.js';
import { type AdmittedPerson, admitted } from './admission.js';
import type { Refusal } from './authorization-answer.js';
import type { Identity } from './identity.js';
import type { AuthorizationRequest, Progress } from './interactions.js';
import type { ContextChoice } from './login-contexts.js';
import { findContext, offeredContexts } from './offered-contexts.js';
import { registeredRedirect } from './redirect-target.js';

/** All that the next step of an authorization depends on. */
export interface Situation {
  request: AuthorizationRequest;
  /** No page may be shown: `prompt=none`. */
  silent: boolean;
  /** As it now is; it may have changed since it asked. */
  application: Application | undefined;
  /** Who is signed in in the browser. */
  signedIn: Session['account'];
  /** That person as the instance of the request sees them. */
  identity: Identity | undefined;
  progress: Progress;
  /** The scopes that the person has approved for the application before. */
  approvedScopes: readonly string[];
  now: number;
}

export type AuthorizationPage = 'sign_in' | 'choose_context' | 'consent';

export type NextStep =
  | { kind: 'page'; page: AuthorizationPage; refusal?: Progress['refusal'] }
  | { kind: 'refuse'; refusal: Refusal }
  /** The redirect URI is the application's no longer: a page of ours says so. */
  | { kind: 'unproven' }
  | {
      kind: 'issue';
      accountId: AccountId;
      authenticatedAt: number;
      context: ContextChoice;
    };

/** What has to happen before the application gets its code, or that it gets one, or why not. It depends on nothing but the situation. */
export function nextStep(situation: Situation): NextStep {
  return (
    withdrawn(situation) ??
    authentication(situation) ??
    admission(situation) ??
    approval(situation) ??
    issue(situation)
  );
}

/** What the operator has taken from the application since it asked. */
function withdrawn({ application, request }: Situation): NextStep | undefined {
  const registered = application && registeredRedirect(application, request.redirectUri);
  if (!application || registered?.instanceId !== request.instanceId) {
    return { kind: 'unproven' };
  }
  if (!application.enabled || !application.allowedGrantTypes.includes('authorization_code')) {
    return refuse('unauthorized_client', 'The application may not sign people in.');
  }
  return request.scopes.every((scope) => application.allowedScopes.includes(scope))
    ? undefined
    : refuse('invalid_scope', 'A scope is registered for this application no longer.');
}

/** Somebody is signed in, lately enough, and it is whom the application expects. */
function authentication({
  request,
  silent,
  signedIn,
  identity,
  progress,
  now,
}: Situation): NextStep | undefined {
  const signIn: NextStep = silent
    ? refuse('login_required', 'The person has to sign in.')
    : signInAgain(progress);
  if (!signedIn || !identity || identity.account.disabledAt !== null) {
    return signIn;
  }
  const here = progress.signedInAt === signedIn.authenticatedAt;
  const { hintedAccountId, prompts, maxAgeSeconds } = request;
  if (hintedAccountId !== null && hintedAccountId !== signedIn.id) {
    return here ? refuse('login_required', 'Another person has signed in than the one expected.') : signIn;
  }
  // After a clock was put back, a sign-in may be of a time to come.
  const ageMs = Math.max(0, now - signedIn.authenticatedAt);
  const isFresh = maxAgeSeconds === null || ageMs < maxAgeSeconds * 1_000;
  const isAskedAnew = prompts.includes('login') || prompts.includes('select_account');
  // A sign-in for this very request is fresh enough however long the person reads the pages after it.
  return here || (isFresh && !isAskedAnew) ? undefined : signIn;
}

/** Something on the instance lets the person in, and they said as what. */
function admission(situation: Situation): NextStep | undefined {
  const { silent, identity, progress } = situation;
  const person = admitted(identity);
  if (!person) {
    return silent
      ? refuse('access_denied', 'The person has no access on this instance.')
      : signInAgain(progress, 'no_access');
  }
  if (contextOf(situation, person)) {
    return undefined;
  }
  return silent
    ? refuse('interaction_required', 'The person has to choose a context.')
    : {
        kind: 'page',
        page: 'choose_context',
        ...(progress.refusal === 'context' && { refusal: 'context' }),
      };
}

function approval(situation: Situation): NextStep | undefined {
  const { request, silent, application, signedIn, progress, approvedScopes } = situation;
  if (signedIn && progress.approvedBy === signedIn.id) {
    return undefined;
  }
  const isApproved =
    request.scopes.every((scope) => approvedScopes.includes(scope)) && !request.prompts.includes('consent');
  if ((application?.firstParty || isApproved) && !isImpersonable(situation)) {
    return undefined;
  }
  return silent
    ? refuse('consent_required', 'The person has to approve the request.')
    : { kind: 'page', page: 'consent' };
}

/** Any program on a machine can take such an address and the id with it, so the person is asked each time (RFC 8252, section 8.6). */
function isImpersonable({ application, request }: Situation): boolean {
  return application?.type === 'public' && new URL(request.redirectUri).protocol !== 'https:';
}

function issue(situation: Situation): NextStep {
  const { signedIn } = situation;
  const person = admitted(situation.identity);
  const context = person && contextOf(situation, person);
  if (!signedIn || !context) {
    throw new Error('A code would be issued to nobody, or for nothing.');
  }
  return { kind: 'issue', accountId: signedIn.id, authenticatedAt: signedIn.authenticatedAt, context };
}

/** The only context there is, or the one that the person chose for this request, or, where they cannot be asked, the one they used last. */
function contextOf(
  { progress, silent, signedIn }: Situation,
  person: AdmittedPerson,
): ContextChoice | undefined {
  const offered = offeredContexts(person);
  if (offered.length === 1) {
    return offered[0];
  }
  const chosen = progress.context?.accountId === signedIn?.id ? progress.context : undefined;
  return findContext(offered, chosen) ?? (silent ? findContext(offered, person.lastContext) : undefined);
}

/** What was wrong with the last try is said first. */
export function signInAgain(
  { refusal }: Progress,
  otherwise?: 'no_access' | undefined,
): NextStep & { kind: 'page' } {
  return { kind: 'page', page: 'sign_in', refusal: refusal === 'credentials' ? refusal : otherwise };
}

function refuse(error: Refusal['error'], description: string): NextStep & { kind: 'refuse' } {
  return { kind: 'refuse', refusal: { error, description } };
}
