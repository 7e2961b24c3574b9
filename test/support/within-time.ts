import { runInThisContext } from 'node:vm';

const LIMIT_MS = 30_000;

/** Interrupts work that takes minutes: the limit of a test does not end what is synchronous. */
export function withinTime(work: () => void): void {
  Object.assign(globalThis, { work });
  runInThisContext('work()', { timeout: LIMIT_MS });
}
