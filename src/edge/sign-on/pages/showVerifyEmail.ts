import { internalError } from '../../../errors/service-error.js';
import { hashSecret } from '../../../identifiers/secret-hash.js';
import { verifyEmailPage } from '../../pages/verify-email.js';
import { browserOf } from '../browser.js';
import type { PageHandler } from '../sign-on-handler.js';
import { errorAnswer } from '../step.js';

export const showVerifyEmail: PageHandler<'showVerifyEmail'> = async (request, dependencies) => {
  const { token } = request.query;
  const { result } = await dependencies.signOn.showEmailLink(
    { browser: browserOf(request, dependencies), linkTokenHash: hashSecret(token) },
    { requestId: request.requestId },
  );
  switch (result?.$case) {
    case 'verifyEmailPage':
      return dependencies.pages.page(verifyEmailPage(token, result.value));
    case 'errorPage':
      return errorAnswer(result.value, request.requestId, dependencies.pages);
    default:
      throw internalError(new Error('the domain said nothing of the link'));
  }
};
