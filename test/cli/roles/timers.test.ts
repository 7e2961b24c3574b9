import { expect, test } from '@jest/globals';
import { startWarningOfExpiry } from '../../../src/cli/roles/timers.js';
import type { ExpiryStore } from '../../../src/domain/maintenance/expiry.js';
import { recordedLog } from '../../support/recorded-log.js';

const credential = { kind: 'api_key' as const, id: 'key_1', of: 'itg_1', expiresAt: 1_800_000_000_000 };
const subscription = { id: 'whs_1', failingSince: 1_700_000_000_000 };

const idle: ExpiryStore = {
  expiring: async () => [],
  next: async () => ({}),
  toWarnOf: async () => [],
  noteWarning: async () => true,
  forgetWarnings: async () => undefined,
  failing: async () => [],
  warnOfFailure: async () => ({ hasContact: true }),
};

function start(store: Partial<ExpiryStore>) {
  const recorded = recordedLog();
  const { log } = recorded;
  const expiry = { ...idle, ...store };
  return { ...recorded, warning: startWarningOfExpiry({ expiry, clock: Date.now }, 1_000, log, 5) };
}

test('a domain logs what expires soon and which subscriptions are about to be disabled', async () => {
  const { warning, nextLine, lines } = start({
    toWarnOf: async (_, __, days) => (days === 7 ? [credential] : []),
    failing: async (_, tenths) => (tenths === 9 ? [subscription] : []),
  });
  await nextLine(({ subscriptionId }) => subscriptionId !== undefined);
  await warning.stop();
  expect(lines().slice(0, 2)).toMatchObject([
    { level: 'warn', kind: 'api_key', id: 'key_1', of: 'itg_1', expiresAt: '2027-01-15T08:00:00.000Z' },
    {
      ...{ level: 'warn', subscriptionId: 'whs_1', shareOfTheTime: 0.9, contactIsNotified: true },
      ...{ failingSince: '2023-11-14T22:13:20.000Z', disabledFrom: '2023-11-14T22:13:21.000Z' },
    },
  ]);
});

test('a domain whose database is unreachable logs it once, and tries again', async () => {
  let looks = 0;
  const { warning, nextLine, lines } = start({
    toWarnOf: async () => {
      looks += 1;
      if (looks < 4) {
        throw new Error('the database is away');
      }
      return [credential];
    },
  });
  await nextLine(({ id }) => id === 'key_1');
  await warning.stop();
  expect(lines().filter(({ level, reason }) => level === 'warn' && reason !== undefined)).toMatchObject([
    { level: 'warn', reason: 'the database is away' },
  ]);
});
