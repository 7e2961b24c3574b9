import { authorizationFormHandler } from '../page-handlers.js';
import type { PageHandler } from '../sign-on-handler.js';

export const consent: PageHandler<'consent'> = authorizationFormHandler(
  ({ interaction, csrf_token: csrfToken, decision }, { signOn, browser, options }) =>
    signOn.decideConsent({ browser, interaction, csrfToken, approved: decision === 'approve' }, options),
);
