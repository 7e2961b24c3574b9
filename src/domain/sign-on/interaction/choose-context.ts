import type { Browser, BrowserStep } from '../sessions/browser.js';
import type { SignOn } from '../sign-on.js';
import { advance, underWay } from './advance.js';
import { findContext, type LoginContext } from './login-contexts.js';
import { type Form, openLockedForm } from './open-form.js';

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
  return signOn.unitOfWork.run(async (changes) => {
    const opened = await openLockedForm(signOn, changes, browser, form);
    if (opened.kind === 'elsewhere') {
      return opened.step;
    }
    const { request, progress } = opened.interaction;
    const account = opened.session.account;
    const identity = account ? await changes.identities.find(account.id, request.instanceId) : undefined;
    const chosen = identity && findContext(identity.contexts, form);
    if (!chosen || !account) {
      return advance(signOn, changes, browser, underWay(opened, { ...progress, refusal: 'context' }));
    }
    const { userType, clientId } = chosen;
    const { id: accountId, authenticatedAt } = account;
    const { refusal, ...before } = progress;
    const context = { userType, clientId, accountId, authenticatedAt };
    return advance(signOn, changes, browser, underWay(opened, { ...before, context }));
  });
}
