import {
  InteractionPage,
  type ShowInteractionResponse,
} from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { internalError, present } from '../../../errors/service-error.js';
import type { AnyRequest } from '../../contract/typed-handler.js';
import { emailChangedPage, emailVerifiedPage, passwordSetPage, signedOutPage } from '../../pages/endings.js';
import { changeEmailPage, setPasswordPage, verifyEmailPage } from '../../pages/links.js';
import { chooseContextPage, consentPage, signInPage, signOutPage } from '../../pages/sign-in.js';
import { browserOf } from '../browser.js';
import { linkPageHandler } from '../page-handlers.js';
import type { PageHandler, SignOnDependencies } from '../sign-on-handler.js';
import { authorizationAnswer, entrancesIn } from '../step.js';

interface PageRequest extends AnyRequest {
  query: { interaction: string };
}

type Result = NonNullable<ShowInteractionResponse['result']>;

type PageResult = Exclude<Result, { $case: 'step' }>;

const PAGES: Record<PageResult['$case'], InteractionPage> = {
  signInPage: InteractionPage.SIGN_IN,
  contextPage: InteractionPage.CHOOSE_CONTEXT,
  consentPage: InteractionPage.CONSENT,
  signOutPage: InteractionPage.SIGN_OUT,
};

/** The handler of a page of a sign-in in progress; redirects if another page is due. */
function interactionPageHandler(expected: PageResult['$case']) {
  const page = PAGES[expected];
  return async (request: PageRequest, dependencies: SignOnDependencies) => {
    const { interaction } = request.query;
    const { result } = await dependencies.signOn.showInteraction(
      { browser: browserOf(request, dependencies), page, interaction },
      { requestId: request.requestId },
    );
    if (result?.$case === 'step') {
      return authorizationAnswer(result.value, request.requestId, dependencies);
    }
    if (!result || result.$case !== expected) {
      throw internalError(new Error(`asked for ${page}, the domain gave ${result?.$case ?? 'nothing'}`));
    }
    return render(interaction, result, dependencies);
  };
}

function render(interaction: string, result: PageResult, { pages }: SignOnDependencies) {
  if (result.$case === 'signOutPage') {
    return pages.page(signOutPage(interaction, result.value), result.value.formActionSource);
  }
  const shared = present(result.value.interaction);
  switch (result.$case) {
    case 'signInPage':
      return pages.page(signInPage(interaction, shared, result.value), shared.formActionSource);
    case 'contextPage':
      return pages.page(chooseContextPage(interaction, shared, result.value), shared.formActionSource);
    case 'consentPage':
      return pages.page(consentPage(interaction, shared, result.value), shared.formActionSource);
  }
}

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
