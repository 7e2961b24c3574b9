import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { AnyRequest } from '../contract/typed-handler.js';
import { isFromElsewhere } from './browser.js';
import type { SignOnDependencies } from './dependencies.js';

/** A form that another site sent. */
export class ForeignForm extends ServiceError {
  constructor() {
    super(ErrorCode.INVALID_REQUEST, 'This form was sent from another site.');
    this.name = 'ForeignForm';
  }
}

/** The second defence; the first is the token in each form, which works in all browsers. */
export function refuseForeignForm(request: AnyRequest, { signOnUrl }: SignOnDependencies): void {
  if (isFromElsewhere(request, signOnUrl)) {
    throw new ForeignForm();
  }
}
