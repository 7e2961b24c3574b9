import { hashSecret } from '../../../identifiers/secret-hash.js';
import { formHandler } from '../form.js';
import type { PageHandler } from '../sign-on-handler.js';

export const setPassword: PageHandler<'setPassword'> = formHandler(
  ({ token, password }, { signOn, browser, options }) =>
    signOn.redeemPasswordLink({ browser, linkTokenHash: hashSecret(token), password }, options),
);
