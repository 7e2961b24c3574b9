import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import {
  heldBackGauges,
  keyStepLagGauge,
  nextExpiryGauge,
  purgedRowsCounter,
  purgeLagGauge,
  storeSizeGauges,
} from '../../src/telemetry/store-metrics.js';

async function samplesOf(register: (registry: Registry) => void): Promise<string[]> {
  const registry = new Registry();
  register(registry);
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

test('removed rows are counted by kind', async () => {
  const samples = await samplesOf((registry) => {
    const count = purgedRowsCounter(registry);
    count('event', 500);
    count('event', 20);
    count('session', 1);
  });
  expect(samples).toEqual([
    'purge_rows_removed_total{kind="event"} 520',
    'purge_rows_removed_total{kind="session"} 1',
  ]);
});

test('the lag of the purge and the next expiry are read on each scrape, in seconds', async () => {
  const lags = { event: 7_000, session: 0 };
  expect(await samplesOf((registry) => purgeLagGauge(registry, async () => lags))).toEqual([
    'purge_lag_seconds{kind="event"} 7',
    'purge_lag_seconds{kind="session"} 0',
  ]);
  const next = { api_key: 1_790_000_000_500, subscription: 2_000 };
  expect(await samplesOf((registry) => nextExpiryGauge(registry, async () => next))).toEqual([
    'next_expiry_timestamp_seconds{kind="api_key"} 1790000000.5',
    'next_expiry_timestamp_seconds{kind="subscription"} 2',
  ]);
});

test('the lag of the signing keys is read on each scrape, also if there is none', async () => {
  const name = 'signing_key_step_lag_seconds';
  expect(await samplesOf((registry) => keyStepLagGauge(registry, async () => 7_500))).toEqual([
    `${name} 7.5`,
  ]);
  expect(await samplesOf((registry) => keyStepLagGauge(registry, async () => 0))).toEqual([`${name} 0`]);
});

test('the sizes of the files have samples only where there are files', async () => {
  const size = { databaseBytes: 10, freeBytes: 4, logBytes: 3 };
  expect(await samplesOf((registry) => storeSizeGauges(registry, async () => size))).toEqual([
    'store_database_bytes 10',
    'store_free_bytes 4',
    'store_log_bytes 3',
  ]);
  expect(await samplesOf((registry) => storeSizeGauges(registry, async () => undefined))).toEqual([]);
});

test('changes that are held back have samples only where they can be', async () => {
  const heldBack = { changes: 3, ageMs: 1_500 };
  expect(await samplesOf((registry) => heldBackGauges(registry, async () => heldBack))).toEqual([
    'changes_held_back 3',
    'changes_held_back_age_seconds 1.5',
  ]);
  expect(await samplesOf((registry) => heldBackGauges(registry, async () => undefined))).toEqual([]);
});

test('while the database does not answer there are no samples', async () => {
  const fails = () => Promise.reject(new Error('away'));
  expect(
    await samplesOf((registry) => {
      purgeLagGauge(registry, fails);
      nextExpiryGauge(registry, fails);
      storeSizeGauges(registry, fails);
      heldBackGauges(registry, fails);
    }),
  ).toEqual([]);
});
