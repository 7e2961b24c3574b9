import { formHandler } from '../page-handlers.js';
import type { PageHandler } from '../sign-on-handler.js';

export const signOut: PageHandler<'signOut'> = formHandler(
  ({ interaction, csrf_token: csrfToken }, { signOn, browser, options }) =>
    signOn.confirmLogout({ browser, interaction, csrfToken }, options),
);
