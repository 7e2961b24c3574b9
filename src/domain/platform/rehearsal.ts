import type { UnitOfWork, WriteOptions } from '../unit-of-work.js';

/** Runs the work and its checks, then rolls back. */
export function rehearsalOf<Changes, Rows>(unitOfWork: UnitOfWork<Changes, Rows>): UnitOfWork<Changes, Rows> {
  return {
    ...unitOfWork,
    run: async <T>(work: (changes: Changes) => Promise<T>, options?: WriteOptions<T>): Promise<T> => {
      try {
        return await unitOfWork.run<T>(async (changes) => {
          throw new Undone(await work(changes));
        }, options);
      } catch (error) {
        if (error instanceof Undone) {
          return error.answer as T;
        }
        throw error;
      }
    },
  };
}

/** Thrown to roll the transaction back. */
class Undone extends Error {
  constructor(readonly answer: unknown) {
    super('rehearsed');
  }
}
