import { browserOf } from '../browser.js';
import { refuseForeignForm } from '../foreign-form.js';
import type { PageHandler } from '../sign-on-handler.js';
import { authorizationAnswer } from '../step.js';

export const signIn: PageHandler<'signIn'> = async (request, dependencies) => {
  refuseForeignForm(request, dependencies);
  const { interaction, csrf_token: csrfToken, email, password } = request.form;
  const { step } = await dependencies.signOn.signIn(
    { browser: browserOf(request, dependencies), interaction, csrfToken, email, password },
    { requestId: request.requestId },
  );
  return authorizationAnswer(step, request.requestId, dependencies);
};
