import { internalError } from '../../../errors/service-error.js';
import { hashSecret } from '../../../identifiers/secret-hash.js';
import { setPasswordPage } from '../../pages/set-password.js';
import { browserOf } from '../browser.js';
import type { PageHandler } from '../sign-on-handler.js';
import { errorAnswer } from '../step.js';

export const showSetPassword: PageHandler<'showSetPassword'> = async (request, dependencies) => {
  const { token, problem } = request.query;
  const { result } = await dependencies.signOn.showPasswordLink(
    { browser: browserOf(request, dependencies), linkTokenHash: hashSecret(token) },
    { requestId: request.requestId },
  );
  switch (result?.$case) {
    case 'setPasswordPage':
      return dependencies.pages.page(setPasswordPage(token, result.value, problem));
    case 'errorPage':
      return errorAnswer(result.value, request.requestId, dependencies.pages);
    default:
      throw internalError(new Error('the domain said nothing of the link'));
  }
};
