import { countPerson } from '../sessions/begin-limits.js';
import { type Browser, type BrowserStep, type PageName, toPage } from '../sessions/browser.js';
import type { SignOn } from '../sign-on.js';
import { advance, underWay } from './advance.js';
import type { SignOutRequest } from './interactions.js';
import { changeableContext, nextStep, signInAgain } from './next-step.js';
import { situationNow } from './open-form.js';
import { isAuthorization, type OwnInteraction, openInteraction } from './open-interaction.js';
import { authorizationPage, type PageContent, signOutPage } from './page-content.js';

/** A page, or where the browser goes instead. */
export type Shown = PageContent | { kind: 'step'; step: BrowserStep };

/** The requested page if the interaction waits there; otherwise the way to its page, or onward. */
export async function showInteraction(
  signOn: SignOn,
  browser: Browser,
  { page, interaction: token }: { page: PageName; interaction: string },
): Promise<Shown> {
  const rows = { ...signOn.unitOfWork.rows, now: signOn.clock() };
  const opened = await openInteraction(signOn, rows, browser, token);
  if (opened.kind === 'elsewhere') {
    return { kind: 'step', step: opened.step };
  }
  if (!isAuthorization(opened)) {
    return page === 'sign_out'
      ? signOutPage(signOn, opened as OwnInteraction<SignOutRequest>)
      : { kind: 'step', step: toPage('sign_out', token) };
  }
  const situation = await situationNow(rows, opened);
  const next = nextStep(situation);
  if (next.kind !== 'page') {
    if (opened.session.account) {
      await countPerson(signOn, opened.session.account.id);
    }
    return { kind: 'step', step: await goOn(signOn, browser, token) };
  }
  if (next.page === page) {
    return authorizationPage(signOn, opened, situation, next);
  }
  if (page === 'choose_context' && next.page === 'consent' && changeableContext(situation)) {
    return authorizationPage(signOn, opened, situation, { kind: 'page', page });
  }
  // A different person may use this browser; the other pages have a link to change the account.
  return page === 'sign_in'
    ? authorizationPage(signOn, opened, situation, signInAgain(situation.progress))
    : { kind: 'step', step: toPage(next.page, token) };
}

/** It no longer waits here: another tab has completed the step. */
function goOn(signOn: SignOn, browser: Browser, token: string): Promise<BrowserStep> {
  return signOn.unitOfWork.run(async (changes) => {
    const opened = await openInteraction(signOn, changes, browser, token);
    if (opened.kind === 'elsewhere') {
      return opened.step;
    }
    return isAuthorization(opened)
      ? advance(signOn, changes, browser, underWay(opened))
      : toPage('sign_out', token);
  });
}
