import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { Session } from '../credentials/sessions.js';
import { advance, situationWith, unproven } from './advance.js';
import { refusalLocation } from './authorization-answer.js';
import type { AuthorizationParameters } from './authorization-parameters.js';
import { type AcceptedRequest, judgeRequest } from './authorization-request.js';
import type { Browser, BrowserStep } from './browser.js';
import { beginSession, sessionOf } from './browser-sessions.js';
import { networkOf } from './network-address.js';
import { nextStep } from './next-step.js';
import type { SignOn } from './sign-on.js';

/** Begins an authorization, and ends it at once where no page is needed. */
export async function authorize(
  signOn: SignOn,
  browser: Browser,
  parameters: AuthorizationParameters,
): Promise<BrowserStep> {
  const { unitOfWork, idTokens, issuer, sessionLimits } = signOn;
  const findApplication = (id: string) => unitOfWork.rows.applications.find(id);
  const judged = await judgeRequest({ findApplication, idTokens }, parameters);
  if (judged.kind === 'unproven') {
    return unproven(judged.developerMessage);
  }
  if (judged.kind === 'refused') {
    return { kind: 'redirect', location: refusalLocation(issuer, judged, judged.refusal) };
  }
  const { request, silent } = judged;
  const { session: known, refused } = await firstLook(signOn, browser, judged);
  if (refused) {
    return refused;
  }
  if (!known?.account) {
    countStranger(signOn, browser);
  }
  return unitOfWork.run(async (changes) => {
    const present = await sessionOf(changes, browser, sessionLimits);
    const { session, cookie } = present ? { session: present } : await beginSession(changes, sessionLimits);
    const step = await advance(signOn, changes, browser, { request, silent, session, progress: {} });
    return cookie ? { ...step, cookie } : step;
  });
}

/** What is refused at once leaves nothing behind, so that asking with `prompt=none` costs no write and no cookie. */
async function firstLook(
  { unitOfWork: { rows }, clock, sessionLimits, issuer }: SignOn,
  browser: Browser,
  { request, application, silent }: AcceptedRequest,
): Promise<{ session: Session | undefined; refused: BrowserStep | undefined }> {
  const now = clock();
  const session = await sessionOf({ ...rows, now }, browser, sessionLimits);
  const signedIn = session?.account ?? null;
  const identity = signedIn ? await rows.identities.find(signedIn.id, request.instanceId) : undefined;
  const known = { request, silent, application, signedIn, identity, progress: {}, now };
  const step = nextStep(await situationWith(rows, known));
  const refused: BrowserStep | undefined =
    step.kind === 'refuse'
      ? { kind: 'redirect', location: refusalLocation(issuer, request, step.refusal) }
      : undefined;
  return { session, refused };
}

/** Before anything is written. A cookie of an earlier request changes nothing: it costs no more to get than to send. */
function countStranger({ strangers }: SignOn, { remoteAddress }: Browser): void {
  const { allowed, ...rateLimit } = strangers.take(networkOf(remoteAddress));
  if (!allowed) {
    const retryAfterSeconds = rateLimit.resetSeconds;
    const message =
      'Too many people are beginning to sign in from your network. Wait a little before you try again.';
    throw new ServiceError(ErrorCode.RATE_LIMITED, message, { rateLimit, retryAfterSeconds });
  }
}
