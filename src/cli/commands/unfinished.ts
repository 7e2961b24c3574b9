/** What was begun did not come to the end that was wanted; the message says what to do. */
export class Unfinished extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Unfinished';
  }
}
