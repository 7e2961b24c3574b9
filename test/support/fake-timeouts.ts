import { jest } from '@jest/globals';

/** Fakes `setTimeout` alone, until `jest.useRealTimers`: connections and `eventually` go on in real time. */
export function fakeTimeouts(): void {
  jest.useFakeTimers({
    doNotFake: [
      'setImmediate',
      'nextTick',
      'queueMicrotask',
      'performance',
      'Date',
      'setInterval',
      'clearInterval',
    ],
  });
}
