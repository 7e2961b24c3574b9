import type { AttemptOutcome } from './attempt.js';

/** Why an attempt failed before an answer. Its message is for people. */
export class AttemptFault extends Error {
  constructor(
    readonly outcome: AttemptOutcome,
    message: string,
  ) {
    super(message);
    this.name = 'AttemptFault';
  }
}
