import { countPerson } from '../sessions/begin-limits.js';
import { type Browser, type BrowserStep, type PageName, toPage } from '../sessions/browser.js';
import type { SignOn } from '../sign-on.js';
import { advance, underWay } from './advance.js';
import { changeableContext, nextStep, signInAgain } from './next-step.js';
import { situationNow } from './open-form.js';
import { openAuthorization, openInteraction } from './open-interaction.js';
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
  if (opened.kind === 'sign_out') {
    return page === 'sign_out'
      ? signOutPage(signOn, opened)
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
    const opened = await openAuthorization(signOn, changes, browser, token);
    return opened.kind === 'elsewhere' ? opened.step : advance(signOn, changes, browser, underWay(opened));
  });
}
