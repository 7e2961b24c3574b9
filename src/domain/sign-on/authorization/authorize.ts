import { asServiceError, ErrorCode } from '../../../errors/service-error.js';
import type { Session } from '../../credentials/sessions.js';
import { advance, sealed, situationWith, unproven } from '../interaction/advance.js';
import { type NextStep, nextStep } from '../interaction/next-step.js';
import { countStranger, countVisit } from '../sessions/begin-limits.js';
import { type Browser, type BrowserStep, toPage } from '../sessions/browser.js';
import { newStranger, sessionOf } from '../sessions/browser-sessions.js';
import type { SignOn } from '../sign-on.js';
import {
  type Asker,
  refusalStep,
  SERVER_ERROR,
  SIGN_IN_NEEDED,
  UNAVAILABLE,
} from './authorization-answer.js';
import type { AuthorizationParameters } from './authorization-parameters.js';
import { type AcceptedRequest, judgeRequest, proveTarget } from './authorization-request.js';

/** Begins an authorization, and completes it if no page is needed. */
export async function authorize(
  signOn: SignOn,
  browser: Browser,
  parameters: AuthorizationParameters,
): Promise<BrowserStep> {
  const { unitOfWork, idTokens, issuer } = signOn;
  const proven = await proveTarget((id) => unitOfWork.rows.applications.find(id), parameters);
  if (typeof proven === 'string') {
    return unproven(proven);
  }
  const { asker } = proven;
  // A redirect has no status 500 or 503 (RFC 6749, 4.1.2.1). A person can try again after
  // UNAVAILABLE, so only the application of a silent request is told of it.
  try {
    const judged = await judgeRequest(idTokens, proven);
    return judged.kind === 'refused'
      ? refusalStep(issuer, asker, judged.refusal)
      : await begin(signOn, browser, judged, asker);
  } catch (thrown) {
    const { code } = asServiceError(thrown);
    const passes = code === ErrorCode.UNAVAILABLE && proven.parameters.prompt === 'none';
    if (!passes && code !== ErrorCode.INTERNAL_ERROR) {
      throw thrown;
    }
    signOn.onFault(browser.requestId, thrown);
    return refusalStep(issuer, asker, passes ? UNAVAILABLE : SERVER_ERROR);
  }
}

async function begin(
  signOn: SignOn,
  browser: Browser,
  judged: AcceptedRequest,
  asker: Asker,
): Promise<BrowserStep> {
  const { request, silent } = judged;
  const { session: known, step } = await firstLook(signOn, browser, judged);
  if (step.kind === 'refuse') {
    return refusalStep(signOn.issuer, asker, step.refusal);
  }
  if (!known?.account) {
    return askStranger(signOn, browser, judged, known);
  }
  if (step.kind === 'page') {
    return toPage(step.page, sealed(signOn, signOn.clock(), { request, session: known, progress: {} }));
  }
  if (!(await countVisit(signOn, known.account.id))) {
    return silent ? refusalStep(signOn.issuer, asker, SIGN_IN_NEEDED) : askForPassword(signOn, judged, known);
  }
  return signOn.unitOfWork.run(async (changes) => {
    const present = await sessionOf(changes, browser, signOn.sessionLimits);
    const { session, cookie } = present ? { session: present } : newStranger(changes.now);
    const step = await advance(signOn, changes, browser, { request, silent, session, progress: {} });
    return cookie ? { ...step, cookie } : step;
  });
}

/** Read-only: a request that is refused at once, such as by `prompt=none`, costs no write and no cookie. */
async function firstLook(
  { unitOfWork: { rows }, clock, sessionLimits }: SignOn,
  browser: Browser,
  { request, application, silent }: AcceptedRequest,
): Promise<{ session: Session | undefined; step: NextStep }> {
  const now = clock();
  const session = await sessionOf({ ...rows, now }, browser, sessionLimits);
  const signedIn = session?.account ?? null;
  const identity = signedIn ? await rows.identities.find(signedIn.id, request.instanceId) : undefined;
  const known = { request, silent, application, signedIn, identity, progress: {}, now };
  return { session, step: nextStep(await situationWith(rows, known)) };
}

/** After too many codes without a password: goes on as with `prompt=login`. */
function askForPassword(signOn: SignOn, { request }: AcceptedRequest, session: Session): BrowserStep {
  const again = { ...request, prompts: [...request.prompts, 'login' as const] };
  return toPage('sign_in', sealed(signOn, signOn.clock(), { request: again, session, progress: {} }));
}

/** An unknown browser can only sign in. Nothing is written until then. */
async function askStranger(
  signOn: SignOn,
  browser: Browser,
  { request }: AcceptedRequest,
  known: Session | undefined,
): Promise<BrowserStep> {
  await countStranger(signOn, browser);
  const now = signOn.clock();
  const { session, cookie } = known ? { session: known } : newStranger(now);
  const page = toPage('sign_in', sealed(signOn, now, { request, session, progress: {} }));
  return cookie ? { ...page, cookie } : page;
}
