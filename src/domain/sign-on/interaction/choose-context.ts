import type { Browser, BrowserStep } from '../sessions/browser.js';
import type { SignOn } from '../sign-on.js';
import { advance, underWay } from './advance.js';
import { findContext, type LoginContext } from './login-contexts.js';
import { answerForm, type Form } from './open-form.js';

interface ChooseContextForm extends Form {
  /** Undefined for an unknown value. */
  userType: LoginContext['userType'] | undefined;
  clientId: string;
}

/** Takes the chosen context, if it still admits the person. */
export function chooseContext(
  signOn: SignOn,
  browser: Browser,
  form: ChooseContextForm,
): Promise<BrowserStep> {
  return answerForm(signOn, browser, form, async (changes, opened) => {
    const { request, progress } = opened.interaction;
    const { accountId, session } = opened;
    const identity = await changes.identities.find(accountId, request.instanceId);
    const chosen = identity && findContext(identity.contexts, form);
    if (!chosen || !session.account) {
      return advance(signOn, changes, browser, underWay(opened, { ...progress, refusal: 'context' }));
    }
    const { userType, clientId } = chosen;
    const { authenticatedAt } = session.account;
    const { refusal, ...before } = progress;
    const context = { userType, clientId, accountId, authenticatedAt };
    return advance(signOn, changes, browser, underWay(opened, { ...before, context }));
  });
}
