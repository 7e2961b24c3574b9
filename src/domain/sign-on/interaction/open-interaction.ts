import type { Session } from '../../credentials/access.js';
import { withoutPerson } from '../authorization/authorization-parameters.js';
import { afterSignOut, type Browser, type BrowserStep, toErrorPage, toPage } from '../sessions/browser.js';
import { sessionOf } from '../sessions/browser-sessions.js';
import { presentRequest } from '../sessions/logout-request.js';
import type { RowsAt, SignOn } from '../sign-on.js';
import {
  type AuthorizationRequest,
  INTERACTION_LIFETIME_MS,
  type Interaction,
  type SignOutRequest,
} from './interactions.js';

/** An interaction that belongs to this browser. */
export interface OwnInteraction<R = AuthorizationRequest | SignOutRequest> {
  interaction: Interaction<R>;
  session: Session;
}

/** The authorization of this browser, or where else the browser goes. */
export type OpenedAuthorization =
  | ({ kind: 'authorization' } & OwnInteraction<AuthorizationRequest>)
  | BrowserStep;

export type OpenedSignOut = ({ kind: 'sign_out' } & OwnInteraction<SignOutRequest>) | BrowserStep;

export async function openInteraction(
  { sessionLimits, interactionSeals }: Pick<SignOn, 'sessionLimits' | 'interactionSeals'>,
  rows: RowsAt<'applications' | 'interactions' | 'sessions'>,
  browser: Browser,
  token: string,
): Promise<OpenedAuthorization | OpenedSignOut> {
  const interaction = interactionSeals.open(token);
  if (!interaction) {
    const message = 'This page has expired. Go back to the application and begin again.';
    return toErrorPage({ kind: 'stale', message });
  }
  const { request, expiresAt } = interaction;
  // The application has forgotten its request, and would refuse the answer to a repeated one.
  if (request.kind === 'authorization' && expiresAt + INTERACTION_LIFETIME_MS <= rows.now) {
    return toErrorPage({ kind: 'stale', message: LONG_OVER });
  }
  const isFinished = await rows.interactions.isFinished(interaction.id);
  const session = await sessionOf(rows, browser, sessionLimits);
  if (request.kind === 'sign_out' && isFinished && !session?.account) {
    // The session is gone: the browser has just signed out.
    return afterSignOut(await presentRequest(rows, request));
  }
  if (!session || !isOf(session, interaction)) {
    return foreign(request, browser);
  }
  if (isFinished) {
    return stale(request, 'answered');
  }
  return expiresAt <= rows.now
    ? stale(request, 'over')
    : ({ kind: request.kind, interaction, session } as OpenedAuthorization | OpenedSignOut);
}

/** The same where only an authorization can go on. */
export async function openAuthorization(
  signOn: Pick<SignOn, 'sessionLimits' | 'interactionSeals'>,
  rows: RowsAt<'applications' | 'interactions' | 'sessions'>,
  browser: Browser,
  token: string,
): Promise<OpenedAuthorization> {
  const opened = await openInteraction(signOn, rows, browser, token);
  return opened.kind === 'sign_out' ? toPage('sign_out', token) : opened;
}

/** It began in this session, or before the browser had one. */
function isOf({ id, beganAs }: Session, { sessionId }: Interaction): boolean {
  return sessionId === id || sessionId === beganAs;
}

const LONG_OVER =
  'This page is of a sign-in that ended long ago, such as one that you have bookmarked. Open your application, and sign in from there; bookmark that instead.';

const WHY = {
  answered: 'This page was answered already, and that answer counts. Go to your application, or begin again.',
  foreign:
    'This page was opened in another browser or together with another page, or you have signed out since or were away for too long. You can begin again.',
  cookieless:
    'This page was opened in another browser, you have signed out since, or your browser keeps back cookies, which are needed to sign in. You can begin again.',
  over: 'This page was open for too long. You can begin again.',
};

/** The page has expired, and the request can be repeated. */
export function stale(request: AuthorizationRequest | SignOutRequest, why: keyof typeof WHY): BrowserStep {
  const continueUrl = request.kind === 'authorization' ? `/auth/authorize?${request.query}` : '/auth/logout';
  return toErrorPage({ kind: 'stale', message: WHY[why], continueUrl });
}

/** Another person may use this browser: the repeated request omits the expected person. */
function foreign(request: AuthorizationRequest | SignOutRequest, { sessionHash }: Browser): BrowserStep {
  const why = sessionHash === undefined ? 'cookieless' : 'foreign';
  return request.kind === 'authorization'
    ? stale({ ...request, query: withoutPerson(request.query) }, why)
    : stale(request, why);
}

/** What the CSRF token of a form is bound to: browser, interaction and signed-in account. */
export function boundOf({ interaction, session }: OwnInteraction): string[] {
  return ['form', session.id, interaction.id, session.account?.id ?? ''];
}
