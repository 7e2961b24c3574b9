import type { UnitOfWork } from './unit-of-work.js';

/** Does all that the works do, refuses what they refuse, and then writes nothing. */
export function rehearsalOf(unitOfWork: UnitOfWork): UnitOfWork {
  return {
    ...unitOfWork,
    run: async <T>(...[work, ...rest]: Parameters<typeof unitOfWork.run<T>>): Promise<T> => {
      try {
        return await unitOfWork.run<T>(
          async (changes) => {
            throw new Undone(await work(changes));
          },
          ...rest,
        );
      } catch (error) {
        if (error instanceof Undone) {
          return error.answer as T;
        }
        throw error;
      }
    },
  };
}

/** Thrown so that the transaction is rolled back. */
class Undone extends Error {
  constructor(readonly answer: unknown) {
    super('rehearsed');
  }
}
