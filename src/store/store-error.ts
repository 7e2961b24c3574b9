/** Why the database cannot be used, as a sentence for the operator who starts the service. */
export class StoreError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
  }
}
