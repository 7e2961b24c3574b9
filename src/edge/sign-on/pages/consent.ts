import { browserOf } from '../browser.js';
import { refuseForeignForm } from '../foreign-form.js';
import type { PageHandler } from '../sign-on-handler.js';
import { authorizationAnswer } from '../step.js';

export const consent: PageHandler<'consent'> = async (request, dependencies) => {
  refuseForeignForm(request, dependencies);
  const { interaction, csrf_token: csrfToken, decision } = request.form;
  const approved = decision === 'approve';
  const { step } = await dependencies.signOn.decideConsent(
    { browser: browserOf(request, dependencies), interaction, csrfToken, approved },
    { requestId: request.requestId },
  );
  return authorizationAnswer(step, request.requestId, dependencies);
};
