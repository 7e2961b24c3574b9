import type { SignOnServiceService } from '../../../../generated/proto/integration/sign_on/v1/sign_on.js';
import { authorize } from '../../../domain/sign-on/authorization/authorize.js';
import { cancel } from '../../../domain/sign-on/interaction/cancel.js';
import { chooseContext } from '../../../domain/sign-on/interaction/choose-context.js';
import { decideConsent } from '../../../domain/sign-on/interaction/consent.js';
import { showInteraction } from '../../../domain/sign-on/interaction/show-interaction.js';
import { signIn } from '../../../domain/sign-on/interaction/sign-in.js';
import { confirmLogout, logout } from '../../../domain/sign-on/sessions/logout.js';
import type { SignOn } from '../../../domain/sign-on/sign-on.js';
import type { Handlers } from '../../handlers.js';
import { fromBrowser, fromPage, fromParameters, fromUserType, toStep } from './browser-messages.js';
import { toShown } from './page-messages.js';

/** The methods for browsers. Each request is complete in itself, so any node can answer it. */
export function browserHandlers(signOn: SignOn): Handlers<SignOnServiceService> {
  return {
    authorize: async ({ browser, parameters }, context) => ({
      step: toStep(await authorize(signOn, fromBrowser(browser, context), fromParameters(parameters))),
    }),
    showInteraction: async ({ browser, page, interaction }, context) => {
      const asked = { page: fromPage(page), interaction };
      return { result: toShown(await showInteraction(signOn, fromBrowser(browser, context), asked)) };
    },
    signIn: async ({ browser, ...form }, context) => ({
      step: toStep(await signIn(signOn, fromBrowser(browser, context), form)),
    }),
    cancelSignIn: async ({ browser, ...form }, context) => ({
      step: toStep(await cancel(signOn, fromBrowser(browser, context), form)),
    }),
    chooseContext: async ({ browser, userType, ...form }, context) => {
      const choice = { ...form, userType: fromUserType(userType) };
      return { step: toStep(await chooseContext(signOn, fromBrowser(browser, context), choice)) };
    },
    decideConsent: async ({ browser, ...form }, context) => ({
      step: toStep(await decideConsent(signOn, fromBrowser(browser, context), form)),
    }),
    logout: async ({ browser, ...parameters }, context) => ({
      step: toStep(await logout(signOn, fromBrowser(browser, context), parameters)),
    }),
    confirmLogout: async ({ browser, ...form }, context) => ({
      step: toStep(await confirmLogout(signOn, fromBrowser(browser, context), form)),
    }),
  };
}
