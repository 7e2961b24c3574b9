import { emailChangedPage, emailVerifiedPage, passwordSetPage, signedOutPage } from '../../pages/endings.js';
import { changeEmailPage, setPasswordPage, verifyEmailPage } from '../../pages/links.js';
import { linkPageHandler } from '../page-handlers.js';
import type { PageHandler } from '../sign-on-handler.js';
import { entrancesIn } from '../step.js';
import { interactionPageHandler } from './interaction-page.js';

export const showSignIn: PageHandler<'showSignIn'> = interactionPageHandler('signInPage');
export const showContexts: PageHandler<'showContexts'> = interactionPageHandler('contextPage');
export const showConsent: PageHandler<'showConsent'> = interactionPageHandler('consentPage');
export const showSignOut: PageHandler<'showSignOut'> = interactionPageHandler('signOutPage');
export const showSignedOut: PageHandler<'showSignedOut'> = async (_, { pages }) => pages.page(signedOutPage);

export const showSetPassword: PageHandler<'showSetPassword'> = linkPageHandler(
  (signOn, link, options) => signOn.showPasswordLink(link, options),
  ({ token, problem }, page) => setPasswordPage(token, page, problem),
);

export const showPasswordSet: PageHandler<'showPasswordSet'> = async (request, { pages, signOn }) => {
  const entrances = entrancesIn(request.query.entrances);
  if (entrances.length === 0) {
    return pages.page(passwordSetPage([]));
  }
  const { applications } = await signOn.showPasswordSet({ entrances }, { requestId: request.requestId });
  return pages.page(passwordSetPage(applications));
};

export const showVerifyEmail: PageHandler<'showVerifyEmail'> = linkPageHandler(
  (signOn, link, options) => signOn.showEmailLink(link, options),
  ({ token }, page) => verifyEmailPage(token, page),
);

export const showEmailVerified: PageHandler<'showEmailVerified'> = async (_, { pages }) =>
  pages.page(emailVerifiedPage);

export const showChangeEmail: PageHandler<'showChangeEmail'> = linkPageHandler(
  (signOn, link, options) => signOn.showEmailChangeLink(link, options),
  ({ token, problem }, page) => changeEmailPage(token, page, problem),
);

export const showEmailChanged: PageHandler<'showEmailChanged'> = async (_, { pages }) =>
  pages.page(emailChangedPage);
