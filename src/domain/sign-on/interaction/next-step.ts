import type { AccountId } from '../../../../generated/ids.js';
import type { Session } from '../../credentials/access.js';
import type { Application } from '../../operator/rows/applications.js';
import { NO_ACCESS, type Refusal, SIGN_IN_NEEDED } from '../authorization/authorization-answer.js';
import { registeredRedirect } from '../authorization/redirect-target.js';
import { type AdmittedPerson, admitted, type Identity } from '../identity.js';
import type { AuthorizationRequest, Progress } from './interactions.js';
import { type ContextChoice, findContext, offeredContexts } from './login-contexts.js';

/** All facts that decide the next step. */
export interface Situation {
  request: AuthorizationRequest;
  /** No page may be shown: `prompt=none`. */
  silent: boolean;
  /** In its present state. */
  application: Application | undefined;
  /** The account that is signed in in the browser. */
  signedIn: Session['account'];
  /** That person as the instance of the request sees them. */
  identity: Identity | undefined;
  progress: Progress;
  /** The scopes that the person approved for the application before. */
  approvedScopes: readonly string[];
  now: number;
}

type AuthorizationPage = 'sign_in' | 'choose_context' | 'consent';

export type NextStep =
  | { kind: 'page'; page: AuthorizationPage; refusal?: Progress['refusal'] }
  | { kind: 'refuse'; refusal: Refusal }
  /** The redirect URI was removed: our own page says so. */
  | { kind: 'unproven' }
  | {
      kind: 'issue';
      accountId: AccountId;
      authenticatedAt: number;
      context: ContextChoice;
      /** Chosen before in this session, and not asked for again. */
      isReused: boolean;
    };

/** Decides whether the browser gets a page, a redirect with a code, or a refusal. Pure. */
export function nextStep(situation: Situation): NextStep {
  return (
    withdrawn(situation) ??
    authentication(situation) ??
    admission(situation) ??
    acceptance(situation) ??
    approval(situation) ??
    issue(situation)
  );
}

/**
 * Whether a denial also ends what the application has for the person on the instance: its tokens and the
 * approval, which a restored database may lack. A denial of more scopes leaves those approved before. For
 * applications that need no approval, the operator decides.
 */
export function withdrawsByDenial({ application, approvedScopes, request }: Situation): boolean {
  const asksForMore =
    approvedScopes.length > 0 && !request.scopes.every((scope) => approvedScopes.includes(scope));
  return application?.firstParty !== true && !asksForMore;
}

/** The expected person is signed in, without access on the instance. */
export function isWithoutAccess(step: NextStep): boolean {
  return step.kind === 'refuse'
    ? step.refusal === NO_ACCESS
    : step.kind === 'page' && step.refusal === 'no_access';
}

/** What the operator has withdrawn from the application since the request. */
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
    : refuse('invalid_scope', 'A scope is no longer registered for this application.');
}

/** Requires a recent enough sign-in of the expected person. */
function authentication(situation: Situation): NextStep | undefined {
  const { request, silent, signedIn, identity, progress, now } = situation;
  const signIn: NextStep = silent ? { kind: 'refuse', refusal: SIGN_IN_NEEDED } : signInAgain(progress);
  if (!signedIn || !identity || identity.account.disabledAt !== null) {
    return signIn;
  }
  const here = isSignedInHere(progress, signedIn);
  const { hintedAccountId, prompts, maxAgeSeconds } = request;
  if (hintedAccountId !== null && hintedAccountId !== signedIn.id) {
    return here
      ? refuse('login_required', 'A different person than the expected one has signed in.')
      : signIn;
  }
  // After a clock was set back, a sign-in may be in the future.
  const ageMs = Math.max(0, now - signedIn.authenticatedAt);
  const isFresh = maxAgeSeconds === null || ageMs < maxAgeSeconds * 1_000;
  const isAskedAnew = prompts.includes('login') || prompts.includes('select_account');
  // A sign-in in this interaction stays fresh while the person reads its pages.
  return here || (isFresh && !isAskedAnew) ? undefined : signIn;
}

/** Whether the person entered the password in this interaction, or later, such as in another tab. */
function isSignedInHere(
  { signedInAt, signedInBy }: Progress,
  signedIn: NonNullable<Situation['signedIn']>,
): boolean {
  const isTheirs = signedInBy === undefined || signedInBy === signedIn.id;
  return isTheirs && signedInAt !== undefined && signedInAt <= signedIn.authenticatedAt;
}

/** Requires an admitting context, and the person's choice of one. */
function admission(situation: Situation): NextStep | undefined {
  const { silent, identity, progress } = situation;
  const person = admitted(identity);
  if (!person) {
    return silent ? { kind: 'refuse', refusal: NO_ACCESS } : signInAgain(progress, 'no_access');
  }
  // After a refused choice the person is asked again, even where another context could be used.
  const isRefused = !silent && progress.refusal === 'context';
  if (!isRefused && contextOf(situation, person)) {
    return undefined;
  }
  return isRefused ? { kind: 'page', page: 'choose_context', refusal: 'context' } : askForChoice(situation);
}

function askForChoice({ silent }: Situation): NextStep {
  return silent
    ? refuse('interaction_required', 'The person has to choose a context.')
    : { kind: 'page', page: 'choose_context' };
}

/**
 * An invited user becomes active only by the password or a choice of role in this interaction. Any web page
 * can send the browser here, so a visit is not enough; nor is an approval, which names no client.
 */
function acceptance(situation: Situation): NextStep | undefined {
  const { signedIn, progress } = situation;
  const person = admitted(situation.identity);
  if (!signedIn || !person || !contextOf(situation, person)?.invited) {
    return undefined;
  }
  return isSignedInHere(progress, signedIn) || choiceIn(progress, signedIn)
    ? undefined
    : askForChoice(situation);
}

function approval(situation: Situation): NextStep | undefined {
  const { request, silent, application, signedIn, progress, approvedScopes } = situation;
  if (signedIn && progress.approvedBy === signedIn.id) {
    return undefined;
  }
  const isApproved =
    application?.firstParty || request.scopes.every((scope) => approvedScopes.includes(scope));
  if (isApproved && !request.prompts.includes('consent') && !isImpersonable(situation)) {
    return undefined;
  }
  return silent
    ? refuse('consent_required', 'The person has to approve the request.')
    : { kind: 'page', page: 'consent' };
}

/** Any local program can take such an address, so the person is always asked (RFC 8252, 8.6). */
function isImpersonable({ application, request }: Situation): boolean {
  return application?.type === 'public' && new URL(request.redirectUri).protocol !== 'https:';
}

function issue(situation: Situation): NextStep {
  const { signedIn, request, progress } = situation;
  const person = admitted(situation.identity);
  const context = person && contextOf(situation, person);
  if (!signedIn || !context) {
    throw new Error('A code needs a person and a context.');
  }
  const { id: accountId, authenticatedAt } = signedIn;
  const inSession = signedIn.contexts?.[request.instanceId];
  const isReused = !choiceIn(progress, signedIn) && findContext([context], inSession) !== undefined;
  return { kind: 'issue', accountId, authenticatedAt, context, isReused };
}

/** The context that the person goes on with, where there are others to change to. */
export function changeableContext(situation: Situation): ContextChoice | undefined {
  const person = admitted(situation.identity);
  return person && offeredContexts(person).length > 1 ? contextOf(situation, person) : undefined;
}

/**
 * The context chosen for this request; undefined if it is no longer offered: the person is asked again.
 * Without a choice, the only one, the one chosen before in this session or, with `prompt=none`, the last
 * used one.
 */
function contextOf(
  { request, progress, silent, signedIn }: Situation,
  person: AdmittedPerson,
): ContextChoice | undefined {
  const offered = offeredContexts(person);
  const chosen = choiceIn(progress, signedIn);
  if (chosen) {
    return findContext(offered, chosen);
  }
  if (offered.length === 1) {
    return offered[0];
  }
  const inSession = signedIn?.contexts?.[request.instanceId];
  return findContext(offered, inSession) ?? (silent ? findContext(offered, person.lastContext) : undefined);
}

/** What the person has chosen since the present sign-in, in this interaction. */
export function choiceIn({ context }: Progress, signedIn: Situation['signedIn']): Progress['context'] {
  const isOfSignIn =
    context?.accountId === signedIn?.id && context?.authenticatedAt === signedIn?.authenticatedAt;
  return isOfSignIn ? context : undefined;
}

/** Shows the error of the last attempt first. */
export function signInAgain(
  { refusal }: Progress,
  otherwise?: 'no_access' | undefined,
): NextStep & { kind: 'page' } {
  const isOfSignIn = refusal !== 'no_access' && refusal !== 'context';
  return { kind: 'page', page: 'sign_in', refusal: (isOfSignIn ? refusal : undefined) ?? otherwise };
}

function refuse(error: Refusal['error'], description: string): NextStep & { kind: 'refuse' } {
  return { kind: 'refuse', refusal: { error, description } };
}
