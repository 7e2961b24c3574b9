import { internalError } from '../../../errors/service-error.js';
import { hashSecret } from '../../../identifiers/secret-hash.js';
import { changeEmailPage } from '../../pages/change-email.js';
import { browserOf } from '../browser.js';
import type { PageHandler } from '../sign-on-handler.js';
import { errorAnswer } from '../step.js';

export const showChangeEmail: PageHandler<'showChangeEmail'> = async (request, dependencies) => {
  const { token, problem } = request.query;
  const { result } = await dependencies.signOn.showEmailChangeLink(
    { browser: browserOf(request, dependencies), linkTokenHash: hashSecret(token) },
    { requestId: request.requestId },
  );
  switch (result?.$case) {
    case 'changeEmailPage':
      return dependencies.pages.page(changeEmailPage(token, result.value, problem));
    case 'errorPage':
      return errorAnswer(result.value, request.requestId, dependencies.pages);
    default:
      throw internalError(new Error('the domain said nothing of the link'));
  }
};
