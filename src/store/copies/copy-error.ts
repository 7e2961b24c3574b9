/** A copy cannot be taken, or is not whole, as a sentence for the operator. */
export class CopyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CopyError';
  }
}
