import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import { authorizationFormHandler, unlessLockedOut } from '../page-handlers.js';
import type { PageHandler } from '../sign-on-handler.js';

export const signIn: PageHandler<'signIn'> = authorizationFormHandler(
  ({ interaction, csrf_token: csrfToken, email, password }, { signOn, browser, options }) =>
    unlessLockedOut(
      signOn.signIn({ browser, interaction, csrfToken, email, password }, options),
      `${operations.showSignIn.path}?${new URLSearchParams({ interaction })}`,
    ),
);
