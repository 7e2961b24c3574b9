import type { Browser, BrowserStep } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { AnyRequest } from '../contract/typed-handler.js';
import { browserOf, isFromElsewhere } from './browser.js';
import type { SignOnDependencies } from './dependencies.js';
import { authorizationAnswer, stepAnswer } from './step.js';

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

type FormRequest<Form> = AnyRequest & { form: Form };

/** The handler of a form. With the token of a mailed link, its page may come again. */
export function formHandler<Form extends object>(send: Send<Form>) {
  return async (request: FormRequest<Form>, dependencies: SignOnDependencies) => {
    const step = await nextStep(send, request, dependencies);
    const linkToken = 'token' in request.form ? String(request.form.token) : undefined;
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
  const { step } = await send(request.form, { signOn, browser, options: { requestId: request.requestId } });
  return step;
}
