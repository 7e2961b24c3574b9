import { purgeLags, type Retention } from '../../domain/maintenance/purge.js';
import { oldestExpired } from '../adapters/purge.js';
import { type Check, foundIn, lengthOf } from './check.js';

/** The limit of the alert PurgeBehind; the interval of the purge is added. */
const LATE_MS = 6 * 3_600_000;

export interface PurgeSettings {
  now: number;
  retention: Retention;
  purgeEveryMs: number;
}

export const purgeKeepsUp: Check<PurgeSettings> = {
  name: 'purge',
  about: 'The purge has removed what is past its retention.',
  severity: 'warning',
  remedy:
    'Check the worker, which starts the purge, and its schedule in Temporal. The runbook of PurgeBehind has the steps.',
  find: async (reader, { now, retention, purgeEveryMs }) => {
    const oldest = {
      oldest: (overBefore: Parameters<typeof oldestExpired>[1]) => oldestExpired(reader, overBefore),
    };
    const lags = Object.entries(await purgeLags(oldest, retention, () => now));
    const late = lags.filter(([, lagMs]) => lagMs > purgeEveryMs + LATE_MS);
    return foundIn(
      late.map(
        ([kind, lagMs]) =>
          `the oldest ${kind.replaceAll('_', ' ')} should have been removed ${lengthOf(lagMs)} ago`,
      ),
      `The greatest delay is ${lengthOf(Math.max(...lags.map(([, lagMs]) => lagMs)))}.`,
    );
  },
};
