import { hashSecret } from '../../../identifiers/random-secrets.js';
import { formHandler } from '../page-handlers.js';
import type { PageHandler } from '../sign-on-handler.js';

export const verifyEmail: PageHandler<'verifyEmail'> = formHandler(
  ({ token }, { signOn, browser, options }) =>
    signOn.redeemEmailLink({ browser, linkTokenHash: hashSecret(token) }, options),
);
