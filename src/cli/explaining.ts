type ErrorClass = new (message: string, options: ErrorOptions) => Error;

/** Does the work; an error in it becomes one of this kind, with a sentence for people. */
export function explaining<T>(Kind: ErrorClass, sentence: (why: string) => string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Kind(sentence((error as Error).message), { cause: error });
  }
}
