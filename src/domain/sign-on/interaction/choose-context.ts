import type { ClientId } from '../../../../generated/ids.js';
import type { Session } from '../../credentials/sessions.js';
import type { Browser, BrowserStep } from '../sessions/browser.js';
import type { SignOn } from '../sign-on.js';
import { advance, underWay } from './advance.js';
import type { Progress } from './interactions.js';
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
    const wanted = form.userType && {
      userType: form.userType,
      clientId: form.clientId as ClientId,
    };
    const chosen = identity && findContext(identity.contexts, wanted);
    const { refusal, ...before } = progress;
    const after: Progress =
      chosen && account
        ? { ...before, context: choiceOf(account, chosen) }
        : { ...progress, refusal: 'context' };
    return advance(signOn, changes, browser, underWay(opened, after));
  });
}

function choiceOf(
  { id, authenticatedAt }: NonNullable<Session['account']>,
  { userType, clientId }: LoginContext,
): Progress['context'] {
  return { userType, clientId, accountId: id, authenticatedAt };
}
