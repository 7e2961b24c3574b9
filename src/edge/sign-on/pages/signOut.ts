import { browserOf } from '../browser.js';
import { refuseForeignForm } from '../foreign-form.js';
import type { PageHandler } from '../sign-on-handler.js';
import { stepAnswer } from '../step.js';

export const signOut: PageHandler<'signOut'> = async (request, dependencies) => {
  refuseForeignForm(request, dependencies);
  const { interaction, csrf_token: csrfToken } = request.form;
  const { step } = await dependencies.signOn.confirmLogout(
    { browser: browserOf(request, dependencies), interaction, csrfToken },
    { requestId: request.requestId },
  );
  return stepAnswer(step, request.requestId, dependencies);
};
