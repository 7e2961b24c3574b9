import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import { UserType } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { hashSecret } from '../../../identifiers/random-secrets.js';
import { authorizationFormHandler, formHandler, unlessLockedOut } from '../page-handlers.js';
import type { PageHandler } from '../sign-on-handler.js';

export const signIn: PageHandler<'signIn'> = authorizationFormHandler(
  ({ interaction, csrf_token: csrfToken, email, password }, { signOn, browser, options }) =>
    unlessLockedOut(
      signOn.signIn({ browser, interaction, csrfToken, email, password }, options),
      `${operations.showSignIn.path}?${new URLSearchParams({ interaction })}`,
    ),
);

export const cancelSignIn: PageHandler<'cancelSignIn'> = authorizationFormHandler(
  ({ interaction, csrf_token: csrfToken }, { signOn, browser, options }) =>
    signOn.cancelSignIn({ browser, interaction, csrfToken }, options),
);

export const chooseContext: PageHandler<'chooseContext'> = authorizationFormHandler(
  ({ interaction, csrf_token: csrfToken, context }, { signOn, browser, options }) => {
    const [type, clientId = ''] = context.split(':');
    const userType = type === 'USER' ? UserType.USER : UserType.WORKER;
    return signOn.chooseContext({ browser, interaction, csrfToken, userType, clientId }, options);
  },
);

export const consent: PageHandler<'consent'> = authorizationFormHandler(
  ({ interaction, csrf_token: csrfToken, decision }, { signOn, browser, options }) =>
    signOn.decideConsent({ browser, interaction, csrfToken, approved: decision === 'approve' }, options),
);

export const setPassword: PageHandler<'setPassword'> = formHandler(
  ({ token, password }, { signOn, browser, options }) =>
    signOn.redeemPasswordLink({ browser, linkTokenHash: hashSecret(token), password }, options),
);

export const verifyEmail: PageHandler<'verifyEmail'> = formHandler(
  ({ token }, { signOn, browser, options }) =>
    signOn.redeemEmailLink({ browser, linkTokenHash: hashSecret(token) }, options),
);

export const changeEmail: PageHandler<'changeEmail'> = formHandler(
  ({ token, password }, { signOn, browser, options }) =>
    unlessLockedOut(
      signOn.redeemEmailChangeLink({ browser, linkTokenHash: hashSecret(token), password }, options),
      `${operations.showChangeEmail.path}?${new URLSearchParams({ token })}`,
    ),
);

export const signOut: PageHandler<'signOut'> = formHandler(
  ({ interaction, csrf_token: csrfToken }, { signOn, browser, options }) =>
    signOn.confirmLogout({ browser, interaction, csrfToken }, options),
);
