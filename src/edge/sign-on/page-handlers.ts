import type {
  Browser,
  BrowserStep,
  ErrorPage,
} from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { ErrorCode, present, ServiceError } from '../../errors/service-error.js';
import { hashSecret } from '../../identifiers/random-secrets.js';
import type { AnyRequest } from '../contract/typed-handler.js';
import type { PageContent } from '../pages/layout.js';
import { browserOf, isFromElsewhere } from './browser.js';
import type { SignOnDependencies } from './sign-on-handler.js';
import { authorizationAnswer, errorAnswer, stepAnswer } from './step.js';

/** A form that another site sent. */
export class ForeignForm extends ServiceError {
  constructor() {
    super(ErrorCode.INVALID_REQUEST, 'This form was sent from another site.');
    this.name = 'ForeignForm';
  }
}

/** Sends a form to the domain, which says where the browser goes. */
type Send<Form> = (
  form: Form,
  domain: { signOn: SignOnDependencies['signOn']; browser: Browser; options: { requestId: string } },
) => Promise<{ step?: BrowserStep | undefined }>;

type FormRequest<Form> = AnyRequest & { requestBody: Form };

/** The handler of a form. With the token of a mailed link, its page may come again. */
export function formHandler<Form extends object>(send: Send<Form>) {
  return async (request: FormRequest<Form>, dependencies: SignOnDependencies) => {
    const step = await nextStep(send, request, dependencies);
    const linkToken = 'token' in request.requestBody ? String(request.requestBody.token) : undefined;
    return stepAnswer(step, request.requestId, dependencies, linkToken);
  };
}

/** The same for an authorization in progress. */
export function authorizationFormHandler<Form>(send: Send<Form>) {
  return async (request: FormRequest<Form>, dependencies: SignOnDependencies) =>
    authorizationAnswer(await nextStep(send, request, dependencies), request.requestId, dependencies);
}

async function nextStep<Form>(
  send: Send<Form>,
  request: FormRequest<Form>,
  dependencies: SignOnDependencies,
): Promise<BrowserStep | undefined> {
  const { signOn, signOnUrl } = dependencies;
  // The second defence; the first is the token in each form, which works in all browsers.
  if (isFromElsewhere(request, signOnUrl)) {
    throw new ForeignForm();
  }
  const browser = browserOf(request, dependencies);
  const { requestId, requestBody: form } = request;
  const { step } = await send(form, { signOn, browser, options: { requestId } });
  return step;
}

type ErrorResult = { $case: 'errorPage'; value: ErrorPage };

/** The handler of a page to which a mailed link leads: `show` asks the domain what the link is for. */
export function linkPageHandler<Query extends { token: string }, Case extends string, Page>(
  show: (
    signOn: SignOnDependencies['signOn'],
    link: { linkTokenHash: Buffer },
    options: { requestId: string },
  ) => Promise<{ result?: { $case: Case; value: Page } | ErrorResult | undefined }>,
  pageOf: (query: Query, page: Page) => PageContent,
) {
  return async (request: AnyRequest & { query: Query }, dependencies: SignOnDependencies) => {
    const { query, requestId } = request;
    const link = { linkTokenHash: hashSecret(query.token) };
    const result = present((await show(dependencies.signOn, link, { requestId })).result);
    return isError(result)
      ? errorAnswer(result.value, requestId, dependencies.pages)
      : dependencies.pages.page(pageOf(query, result.value));
  };
}

function isError(result: { $case: string; value: unknown }): result is ErrorResult {
  return result.$case === 'errorPage';
}

/** A form with a password came too often: the message says what was too much. */
export class LockedOut extends ServiceError {
  constructor(
    cause: ServiceError,
    /** The page with the form, for the time after. */
    readonly backUrl: string,
  ) {
    super(ErrorCode.RATE_LIMITED, cause.message, { cause, retryAfterSeconds: cause.retryAfterSeconds });
    this.name = 'LockedOut';
  }
}

/** The answer to a form with a password; if there were too many, the error for the page that says so. */
export function unlessLockedOut<T>(answer: Promise<T>, backUrl: string): Promise<T> {
  return answer.catch((error: unknown) => {
    const isLockOut = error instanceof ServiceError && error.code === ErrorCode.RATE_LIMITED;
    throw isLockOut ? new LockedOut(error, backUrl) : error;
  });
}
