import { hashSecret } from '../../../identifiers/secret-hash.js';
import { formHandler } from '../form.js';
import type { PageHandler } from '../sign-on-handler.js';

export const verifyEmail: PageHandler<'verifyEmail'> = formHandler(
  ({ token }, { signOn, browser, options }) =>
    signOn.redeemEmailLink({ browser, linkTokenHash: hashSecret(token) }, options),
);
