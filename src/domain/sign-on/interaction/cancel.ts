import { NO_ACCESS, type Refusal } from '../authorization/authorization-answer.js';
import { auditRequest, type Browser, type BrowserStep } from '../sessions/browser.js';
import type { SignOn, SignOnChanges } from '../sign-on.js';
import { leave } from './advance.js';
import { isWithoutAccess, type NextStep, nextStep } from './next-step.js';
import { answerForm, type Form, openForm, type PersonsForm, situationNow } from './open-form.js';
import { stale } from './open-interaction.js';

type WayBack = NextStep & { kind: 'refuse' | 'unproven' };

const CANCELLED: Refusal = { error: 'access_denied', description: 'The person cancelled the sign-in.' };

/** Leads back to the application with the reason. For an unknown browser it writes nothing. */
export async function cancel(signOn: SignOn, browser: Browser, form: Form): Promise<BrowserStep> {
  const opened = await openForm(signOn, browser, form);
  if (opened.kind !== 'authorization') {
    return opened;
  }
  if (opened.session.account) {
    return answerForm(signOn, browser, form, (changes, own) => end(signOn, changes, browser, own));
  }
  const rows = { ...signOn.unitOfWork.rows, now: signOn.clock() };
  const situation = await situationNow(rows, opened);
  return leave(signOn, situation, wayBack(nextStep(situation)));
}

/** The same for a person, once. */
async function end(
  signOn: SignOn,
  changes: SignOnChanges,
  browser: Browser,
  opened: PersonsForm,
): Promise<BrowserStep> {
  const situation = await situationNow(changes, opened);
  if (!(await changes.interactions.finish(opened.interaction))) {
    return stale(opened.interaction.request, 'answered');
  }
  const way = wayBack(nextStep(situation));
  const asked = { accountId: opened.accountId, request: opened.interaction.request };
  const attributes = { reason: reasonOf(way) };
  await auditRequest(changes, browser, asked, { type: 'sign_in.cancelled', attributes });
  return leave(signOn, situation, way);
}

/** What the operator withdrew comes first; a person without access has nothing to cancel. */
function wayBack(step: NextStep): WayBack {
  if (step.kind === 'refuse' || step.kind === 'unproven') {
    return step;
  }
  const refusal = isWithoutAccess(step) ? NO_ACCESS : CANCELLED;
  return { kind: 'refuse', refusal };
}

function reasonOf(way: WayBack): string {
  if (way.kind === 'unproven') {
    return 'redirect_uri_withdrawn';
  }
  if (way.refusal === CANCELLED) {
    return 'cancelled';
  }
  return way.refusal === NO_ACCESS ? 'no_access' : way.refusal.error;
}
