/** The work did not complete; the message says what to do. */
export class Unfinished extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Unfinished';
  }
}
