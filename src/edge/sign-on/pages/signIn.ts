import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import { browserOf } from '../browser.js';
import { refuseForeignForm } from '../foreign-form.js';
import { unlessLockedOut } from '../locked-out.js';
import type { PageHandler } from '../sign-on-handler.js';
import { authorizationAnswer } from '../step.js';

export const signIn: PageHandler<'signIn'> = async (request, dependencies) => {
  refuseForeignForm(request, dependencies);
  const { interaction, csrf_token: csrfToken, email, password } = request.form;
  const { step } = await unlessLockedOut(
    dependencies.signOn.signIn(
      { browser: browserOf(request, dependencies), interaction, csrfToken, email, password },
      { requestId: request.requestId },
    ),
    `${operations.showSignIn.path}?${new URLSearchParams({ interaction })}`,
  );
  return authorizationAnswer(step, request.requestId, dependencies);
};
