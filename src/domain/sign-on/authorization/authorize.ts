import { asServiceError, ErrorCode } from '../../../errors/service-error.js';
import type { Session } from '../../credentials/access.js';
import { advance, sealed, situationOf, unproven } from '../interaction/advance.js';
import type { AuthorizationRequest } from '../interaction/interactions.js';
import { isWithoutAccess, type NextStep, nextStep } from '../interaction/next-step.js';
import { countStranger, countVisit } from '../sessions/begin-limits.js';
import { type Browser, type BrowserStep, type PageName, toPage } from '../sessions/browser.js';
import { newStranger, sessionOf } from '../sessions/browser-sessions.js';
import { observeNoAccess } from '../sessions/refusals.js';
import type { SignOn } from '../sign-on.js';
import {
  type Asker,
  type Refusal,
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
  const { unitOfWork, keys, issuer } = signOn;
  const proven = await proveTarget((id) => unitOfWork.rows.applications.find(id), parameters);
  if (typeof proven === 'string') {
    return unproven(proven);
  }
  const { asker } = proven;
  // A redirect has no status 500 or 503 (RFC 6749, 4.1.2.1). A person can retry after a passing
  // failure: only the application of a silent request learns of it.
  try {
    const judged = await judgeRequest(keys, proven);
    return 'error' in judged
      ? refusalStep(issuer, asker, judged)
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
  if (known?.account && isWithoutAccess(step)) {
    observeNoAccess(signOn, browser, known.account.id, request);
  }
  if (step.kind === 'refuse') {
    return refusalStep(signOn.issuer, asker, step.refusal);
  }
  if (!known?.account) {
    // An unknown browser can only sign in. Nothing is written until then.
    await countStranger(signOn, browser);
    const { session, cookie } = known ? { session: known } : newStranger(signOn.clock());
    const page = pageFor(signOn, asker, 'sign_in', { request, session });
    return cookie ? { ...page, cookie } : page;
  }
  if (step.kind === 'page') {
    return pageFor(signOn, asker, step.page, { request, session: known });
  }
  if (!(await countVisit(signOn, known.account.id))) {
    // After too many codes without a password: goes on as with `prompt=login`.
    const again = { ...request, prompts: [...request.prompts, 'login' as const] };
    return silent
      ? refusalStep(signOn.issuer, asker, SIGN_IN_NEEDED)
      : pageFor(signOn, asker, 'sign_in', { request: again, session: known });
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
  const known = { request, silent, signedIn, identity, progress: {}, now };
  return { session, step: nextStep(await situationOf(rows, known, application)) };
}

/** Pages take 14,000 characters in their address; what the person does may add 2,000 of them. */
const MAX_SEALED_LENGTH = 12_000;

const TOO_LONG: Refusal = {
  error: 'invalid_request',
  description: 'state, nonce and login_hint are too long to be kept.',
};

/** The request travels in the address of the page, where no more than that has room. */
function pageFor(
  signOn: SignOn,
  asker: Asker,
  page: PageName,
  begun: { request: AuthorizationRequest; session: Session },
): BrowserStep {
  const interaction = sealed(signOn, signOn.clock(), { ...begun, progress: {} });
  return interaction.length > MAX_SEALED_LENGTH
    ? refusalStep(signOn.issuer, asker, TOO_LONG)
    : toPage(page, interaction);
}
