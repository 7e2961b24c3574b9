import { expect, test } from '@jest/globals';
import { boundedWarnings } from '../../src/telemetry/bounded-warnings.js';
import { recordedLog } from '../support/recorded-log.js';

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
