import type { Browser, ErrorPage } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { internalError } from '../../errors/service-error.js';
import { hashSecret } from '../../identifiers/secret-hash.js';
import type { AnyRequest } from '../contract/typed-handler.js';
import type { PageContent } from '../pages/layout.js';
import { browserOf } from './browser.js';
import type { SignOnDependencies } from './dependencies.js';
import { errorAnswer } from './step.js';

type ErrorResult = { $case: 'errorPage'; value: ErrorPage };

/** The handler of a page to which a mailed link leads: `show` asks the domain what the link is for. */
export function linkPageHandler<Query extends { token: string }, Case extends string, Page>(
  show: (
    signOn: SignOnDependencies['signOn'],
    link: { browser: Browser; linkTokenHash: Buffer },
    options: { requestId: string },
  ) => Promise<{ result?: { $case: Case; value: Page } | ErrorResult | undefined }>,
  pageOf: (query: Query, page: Page) => PageContent,
) {
  return async (request: AnyRequest & { query: Query }, dependencies: SignOnDependencies) => {
    const { query, requestId } = request;
    const link = { browser: browserOf(request, dependencies), linkTokenHash: hashSecret(query.token) };
    const { result } = await show(dependencies.signOn, link, { requestId });
    if (!result) {
      throw internalError(new Error('the domain said nothing of the link'));
    }
    return isError(result)
      ? errorAnswer(result.value, requestId, dependencies.pages)
      : dependencies.pages.page(pageOf(query, result.value));
  };
}

function isError(result: { $case: string; value: unknown }): result is ErrorResult {
  return result.$case === 'errorPage';
}
