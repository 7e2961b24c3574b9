import { authorizationFormHandler } from '../page-handlers.js';
import type { PageHandler } from '../sign-on-handler.js';

export const cancelSignIn: PageHandler<'cancelSignIn'> = authorizationFormHandler(
  ({ interaction, csrf_token: csrfToken }, { signOn, browser, options }) =>
    signOn.cancelSignIn({ browser, interaction, csrfToken }, options),
);
