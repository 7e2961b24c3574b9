/** The import ended; some lines were refused, and were listed. */
export class RefusedLines extends Error {
  constructor(count: number) {
    super(count === 1 ? 'A line was refused.' : `${count} lines were refused.`);
    this.name = 'RefusedLines';
  }
}
