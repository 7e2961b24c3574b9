import { afterEach, expect, jest, test } from '@jest/globals';
import { boundedWarnings } from '../../src/telemetry/log.js';
import { recordedLog } from '../support/recorded-log.js';

afterEach(() => {
  jest.useRealTimers();
});

test('only so many warnings a minute are written, and the next one counts those left out', () => {
  let now = 0;
  const { log, lines } = recordedLog();
  const warn = boundedWarnings(log, 2, () => now);
  for (const attempt of [1, 2, 3, 4]) {
    warn('refused', { attempt });
  }
  now = 60_000;
  warn('refused', { attempt: 5 });
  warn('refused', { attempt: 6 });
  expect(lines().map(({ level, attempt, leftOut }) => [level, attempt, leftOut])).toEqual([
    ['warn', 1, 0],
    ['warn', 2, 0],
    ['warn', 5, 2],
    ['warn', 6, 0],
  ]);
});

test('warnings left out are told when the minute is over, also if no other comes', () => {
  jest.useFakeTimers();
  const { log, lines } = recordedLog();
  const warn = boundedWarnings(log, 1);
  warn('refused', { attempt: 1 });
  jest.advanceTimersByTime(20_000);
  for (const attempt of [2, 3, 4]) {
    warn('refused', { attempt });
  }
  jest.advanceTimersByTime(39_999);
  expect(lines()).toHaveLength(1);
  jest.advanceTimersByTime(1);
  warn('refused', { attempt: 5 });
  expect(lines().map(({ attempt, leftOut, secondsAgo }) => [attempt, leftOut, secondsAgo])).toEqual([
    [1, 0, undefined],
    [2, 2, 40],
  ]);
});
