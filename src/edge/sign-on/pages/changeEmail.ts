import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import { hashSecret } from '../../../identifiers/random-secrets.js';
import { formHandler, unlessLockedOut } from '../page-handlers.js';
import type { PageHandler } from '../sign-on-handler.js';

export const changeEmail: PageHandler<'changeEmail'> = formHandler(
  ({ token, password }, { signOn, browser, options }) =>
    unlessLockedOut(
      signOn.redeemEmailChangeLink({ browser, linkTokenHash: hashSecret(token), password }, options),
      `${operations.showChangeEmail.path}?${new URLSearchParams({ token })}`,
    ),
);
