import { browserOf } from '../browser.js';
import { refuseForeignForm } from '../foreign-form.js';
import type { PageHandler } from '../sign-on-handler.js';
import { authorizationAnswer } from '../step.js';

export const cancelSignIn: PageHandler<'cancelSignIn'> = async (request, dependencies) => {
  refuseForeignForm(request, dependencies);
  const { interaction, csrf_token: csrfToken } = request.form;
  const { step } = await dependencies.signOn.cancelSignIn(
    { browser: browserOf(request, dependencies), interaction, csrfToken },
    { requestId: request.requestId },
  );
  return authorizationAnswer(step, request.requestId, dependencies);
};
