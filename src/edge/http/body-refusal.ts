import { ErrorCode, ServiceError } from '../../errors/service-error.js';

/** A refusal of a body by its size, type or speed. */
export class BodyRefusal extends ServiceError {
  constructor(
    readonly status: 400 | 413 | 415,
    message: string,
  ) {
    super(ErrorCode.INVALID_REQUEST, message);
    this.name = 'BodyRefusal';
  }
}

/** The client disconnected before it sent the whole body, so no answer can be sent. */
export class ClientLeft extends Error {
  readonly code = 'ERR_STREAM_PREMATURE_CLOSE';

  constructor() {
    super('the client left before its request was complete');
    this.name = 'ClientLeft';
  }
}
