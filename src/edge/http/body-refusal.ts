import { ErrorCode, ServiceError } from '../../errors/service-error.js';

/** A body that is refused for what it is, whatever it says. */
export class BodyRefusal extends ServiceError {
  constructor(
    readonly status: 400 | 413 | 415,
    message: string,
  ) {
    super(ErrorCode.INVALID_REQUEST, message);
    this.name = 'BodyRefusal';
  }
}

/** The client went away before it had sent what it announced; nobody is there to answer. */
export class ClientLeft extends Error {
  readonly code = 'ERR_STREAM_PREMATURE_CLOSE';

  constructor() {
    super('the client left before its request was complete');
    this.name = 'ClientLeft';
  }
}
