import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import { hashSecret } from '../../../identifiers/secret-hash.js';
import { browserOf } from '../browser.js';
import { refuseForeignForm } from '../foreign-form.js';
import { unlessLockedOut } from '../locked-out.js';
import type { PageHandler } from '../sign-on-handler.js';
import { stepAnswer } from '../step.js';

export const changeEmail: PageHandler<'changeEmail'> = async (request, dependencies) => {
  refuseForeignForm(request, dependencies);
  const { token, password } = request.form;
  const { step } = await unlessLockedOut(
    dependencies.signOn.redeemEmailChangeLink(
      { browser: browserOf(request, dependencies), linkTokenHash: hashSecret(token), password },
      { requestId: request.requestId },
    ),
    `${operations.showChangeEmail.path}?${new URLSearchParams({ token })}`,
  );
  return stepAnswer(step, request.requestId, dependencies, token);
};
