/** An import came to its end, and some lines of it were refused; they have been listed. */
export class RefusedLines extends Error {
  constructor(count: number) {
    super(count === 1 ? 'A line was refused.' : `${count} lines were refused.`);
    this.name = 'RefusedLines';
  }
}
