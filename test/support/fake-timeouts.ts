import { jest } from '@jest/globals';

const OTHER_TIMERS = [
  ...['setImmediate', 'nextTick', 'queueMicrotask', 'performance', 'Date', 'setInterval', 'clearInterval'],
] as const;

/** Fakes `setTimeout` alone, until `jest.useRealTimers`: connections and `eventually` go on in real time. */
export function fakeTimeouts(): void {
  jest.useFakeTimers({ doNotFake: [...OTHER_TIMERS] });
}
