import type { AttemptOutcome } from './attempt.js';

/** Why an attempt failed before an answer could decide. Its message is for people. */
export class AttemptFault extends Error {
  constructor(
    readonly outcome: AttemptOutcome,
    message: string,
  ) {
    super(message);
    this.name = 'AttemptFault';
  }
}
