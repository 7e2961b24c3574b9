import { hashSecret } from '../../../identifiers/random-secrets.js';
import { formHandler } from '../page-handlers.js';
import type { PageHandler } from '../sign-on-handler.js';

export const setPassword: PageHandler<'setPassword'> = formHandler(
  ({ token, password }, { signOn, browser, options }) =>
    signOn.redeemPasswordLink({ browser, linkTokenHash: hashSecret(token), password }, options),
);
