import type { AccountId } from '../../../../generated/ids.js';
import type { Session, SessionAccount } from '../../credentials/access.js';
import { sealed } from '../interaction/advance.js';
import type { SignOutRequest } from '../interaction/interactions.js';
import type { Form } from '../interaction/open-form.js';
import { boundOf, type OpenedSignOut, openInteraction } from '../interaction/open-interaction.js';
import type { ReadIdToken } from '../keys/signing.js';
import type { RowsAt, SignOn, SignOnChanges } from '../sign-on.js';
import { afterSignOut, auditIn, type Browser, type BrowserStep, toErrorPage, toPage } from './browser.js';
import { sessionOf } from './browser-sessions.js';
import { judgeLogout, type LogoutParameters, presentRequest } from './logout-request.js';

type EndPorts = Pick<SignOnChanges, 'audit' | 'grants' | 'now'>;
type Ports = EndPorts & Pick<SignOnChanges, 'lock' | 'sessions'>;

/** RP-Initiated Logout 1.0. Asks the person unless an ID token of their sign-in proves the request. */
export async function logout(
  signOn: SignOn,
  browser: Browser,
  parameters: LogoutParameters,
): Promise<BrowserStep> {
  const { unitOfWork, clock, sessionLimits } = signOn;
  const judged = await judgeLogout(signOn, parameters);
  if ('message' in judged) {
    // The page offers to sign out without a return to the application.
    const message = `${judged.message} You have not been signed out. You can sign out here, without going back to it.`;
    const { developerMessage } = judged;
    return toErrorPage({ kind: 'request', message, developerMessage, continueUrl: '/auth/logout' });
  }
  const { request, hint } = judged;
  const now = clock();
  const seen = await sessionOf({ ...unitOfWork.rows, now }, browser, sessionLimits);
  // Other sites can send browsers here at will, so only an end of a session queues for a write.
  if (!seen?.account) {
    return afterSignOut(request);
  }
  if (!hint || !isOf(seen.account, hint)) {
    return toPage('sign_out', sealed(signOn, now, { request, session: seen, progress: {} }));
  }
  return unitOfWork.run(async (changes) => {
    const session = await sessionOf(changes, browser, sessionLimits);
    return session?.account?.id === hint.accountId
      ? end(changes, browser, session, request)
      : afterSignOut(request);
  });
}

/** An application may have kept a token of an earlier sign-in, to sign the person out at any time. */
function isOf({ id, authenticatedAt }: SessionAccount, { accountId, issuedAtSeconds }: ReadIdToken): boolean {
  return id === accountId && issuedAtSeconds >= Math.floor(authenticatedAt / 1_000);
}

export async function confirmLogout(signOn: SignOn, browser: Browser, form: Form): Promise<BrowserStep> {
  const { unitOfWork, clock } = signOn;
  // A form that does not match, which anyone can send, opens no write.
  const seen = await openSignOut(signOn, { ...unitOfWork.rows, now: clock() }, browser, form);
  if (seen.kind !== 'sign_out') {
    return seen;
  }
  return unitOfWork.run(async (changes) => {
    const opened = await openSignOut(signOn, changes, browser, form);
    if (opened.kind !== 'sign_out') {
      return opened;
    }
    await changes.interactions.finish(opened.interaction);
    const request = await presentRequest(changes, opened.interaction.request);
    return end(changes, browser, opened.session, request);
  });
}

/** The sign-out of a form, or where else the browser goes. */
async function openSignOut(
  signOn: SignOn,
  rows: RowsAt<'applications' | 'interactions' | 'sessions'>,
  browser: Browser,
  form: Form,
): Promise<OpenedSignOut> {
  const opened = await openInteraction(signOn, rows, browser, form.interaction);
  if (opened.kind === 'authorization') {
    return toPage('sign_in', form.interaction);
  }
  return opened.kind !== 'sign_out' || signOn.formTokens.matches(form.csrfToken, ...boundOf(opened))
    ? opened
    : toPage('sign_out', form.interaction);
}

async function end(
  changes: Ports,
  browser: Browser,
  session: Session,
  request: SignOutRequest,
): Promise<BrowserStep> {
  if (session.account) {
    const accountId = session.account.id;
    // Waits until a code that another tab is getting is stored, so that its grant is revoked too.
    await changes.lock(accountId);
    const present = await changes.sessions.findByToken(session.tokenHash);
    if (present?.account?.id !== accountId) {
      // A sign-in in another tab has replaced it, and has given the browser another cookie.
      return afterSignOut(request);
    }
    const { applicationId } = request;
    await noteEnd(changes, browser, accountId, {
      ...{ id: session.id, accountId },
      ...(applicationId !== null && { application_id: applicationId }),
    });
  }
  await changes.sessions.delete(session.id);
  return { ...afterSignOut(request), cookie: { kind: 'clear' } };
}

/**
 * Records who ended a session before its time, and ends the tokens that are to end with it. The caller
 * has locked the account, and removes the session.
 */
export async function noteEnd(
  changes: EndPorts,
  browser: Browser,
  by: AccountId,
  { id, accountId, ...attributes }: { id: string; accountId: AccountId } & Record<string, string>,
): Promise<void> {
  await changes.grants.revokeOfSession({ sessionId: id, accountId }, changes.now);
  const subject = { type: 'account', id: accountId };
  await auditIn(changes, browser, { type: 'account', id: by }, { type: 'sign_out', subject, attributes });
}
