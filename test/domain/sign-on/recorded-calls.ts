import type { SignOn } from '../../../src/domain/sign-on/sign-on.js';

type Method = (...given: unknown[]) => unknown;

/** The same dependencies, which record what is called of them: rows, locks, limits, hashes, transactions. */
export function recordedCalls(signOn: SignOn): { signOn: SignOn; calls: string[] } {
  const calls: string[] = [];
  const recorded = <T extends object>(recordedOne: T, path: string): T =>
    new Proxy(recordedOne, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        const at = `${path}${String(name)}`;
        if (typeof value !== 'function') {
          return typeof value === 'object' && value !== null ? recorded(value, `${at}.`) : value;
        }
        return (...given: unknown[]) => {
          calls.push(at);
          const [work, ...options] = given;
          return at === 'unitOfWork.run'
            ? value.call(
                target,
                (changes: object) => (work as Method)(recorded(changes, 'in a write: ')),
                ...options,
              )
            : value.apply(target, given);
        };
      },
    });
  return { signOn: recorded(signOn, ''), calls };
}
