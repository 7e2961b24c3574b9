import type { Browser as BrowserMessage } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import type { SignOnServiceService } from '../../../../generated/proto/integration/sign_on/v1/sign_on.js';
import { authorize } from '../../../domain/sign-on/authorization/authorize.js';
import { cancel } from '../../../domain/sign-on/interaction/cancel.js';
import { chooseContext } from '../../../domain/sign-on/interaction/choose-context.js';
import { decideConsent } from '../../../domain/sign-on/interaction/consent.js';
import { showInteraction } from '../../../domain/sign-on/interaction/show-interaction.js';
import { signIn } from '../../../domain/sign-on/interaction/sign-in.js';
import type { Browser, BrowserStep } from '../../../domain/sign-on/sessions/browser.js';
import { confirmLogout, logout } from '../../../domain/sign-on/sessions/logout.js';
import type { SignOn } from '../../../domain/sign-on/sign-on.js';
import type { CallContext, Handlers } from '../../handlers.js';
import { fromBrowser, fromPage, fromParameters, fromUserType, toShown, toStep } from './browser-messages.js';

/** The methods for browsers. Each request is complete in itself, so any node can answer it. */
export function browserHandlers(signOn: SignOn): Handlers<SignOnServiceService> {
  const stepOf =
    <Form>(act: (signOn: SignOn, browser: Browser, form: Form) => Promise<BrowserStep>) =>
    async ({ browser, ...form }: Form & { browser: BrowserMessage | undefined }, context: CallContext) => ({
      step: toStep(await act(signOn, fromBrowser(browser, context), form as Form)),
    });
  return {
    authorize: async ({ browser, parameters }, context) => ({
      step: toStep(await authorize(signOn, fromBrowser(browser, context), fromParameters(parameters))),
    }),
    showInteraction: async ({ browser, page, interaction }, context) => {
      const asked = { page: fromPage(page), interaction };
      return { result: toShown(await showInteraction(signOn, fromBrowser(browser, context), asked)) };
    },
    signIn: stepOf(signIn),
    cancelSignIn: stepOf(cancel),
    chooseContext: async ({ browser, userType, ...form }, context) => {
      const choice = { ...form, userType: fromUserType(userType) };
      return { step: toStep(await chooseContext(signOn, fromBrowser(browser, context), choice)) };
    },
    decideConsent: stepOf(decideConsent),
    logout: stepOf(logout),
    confirmLogout: stepOf(confirmLogout),
  };
}
