/** A copy cannot be made or is damaged. The message is shown to the operator. */
export class CopyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CopyError';
  }
}
