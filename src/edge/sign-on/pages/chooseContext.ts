import { UserType } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { browserOf } from '../browser.js';
import { refuseForeignForm } from '../foreign-form.js';
import type { PageHandler } from '../sign-on-handler.js';
import { authorizationAnswer } from '../step.js';

export const chooseContext: PageHandler<'chooseContext'> = async (request, dependencies) => {
  refuseForeignForm(request, dependencies);
  const { interaction, csrf_token: csrfToken, context } = request.form;
  const [type, clientId = ''] = context.split(':');
  const userType = type === 'USER' ? UserType.USER : UserType.WORKER;
  const { step } = await dependencies.signOn.chooseContext(
    { browser: browserOf(request, dependencies), interaction, csrfToken, userType, clientId },
    { requestId: request.requestId },
  );
  return authorizationAnswer(step, request.requestId, dependencies);
};
