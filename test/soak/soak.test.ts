import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { progressOn } from '../bench/harness/progress.js';
import { eventually } from '../support/eventually.js';
import { type ServiceProcess, serviceProcesses } from '../support/service-process.js';
import { describeWith } from '../support/toolchains.js';
import { ACCEPTING, MixedLoad } from './mixed-load.js';
import { type Observations, observe, rowsIn, thirdsOf } from './observations.js';
import { type Tally, tableOf } from './steady.js';

/** Set by `make soak`; unset, the run is short. */
const { SOAK_MINUTES } = process.env;
const isLong = SOAK_MINUTES !== undefined;
const MS_PER_MINUTE = 60_000;
const MS = isLong ? Number(SOAK_MINUTES) * MS_PER_MINUTE : 24_000;
const RETENTION_MS = MS / 12;
const OBSERVATIONS = 60;
/** For the start, and for the last deliveries at the end, on a busy machine. */
const BEFORE_AND_AFTER_MS = 180_000;

/** Sessions have a minimum lifetime; the other tables have a fixed retention. */
const GROW_WITH_SIGN_INS = [
  'attempt_counts',
  'authorization_codes',
  'code_minutes',
  'finished_interactions',
  'grants',
  'sessions',
];

const PURGED = ['events', 'deliveries', 'delivery_attempts'];
const MOST_ROWS_GROWTH = 1.25;
/** The allowed growth of tables with few rows. */
const FEW_ROWS = 50;
const MOST_MEMORY_GROWTH = 1.1;

describeWith('temporal', `${MS / MS_PER_MINUTE} minutes of mixed load`, () => {
  const services = serviceProcesses();
  const { progress, clear } = isLong
    ? progressOn(process.stderr)
    : { progress: () => undefined, clear: () => undefined };
  let service: ServiceProcess;
  let load: MixedLoad;
  let tallies: Tally[];
  let seen: Observations;

  beforeAll(async () => {
    progress(`${MS / MS_PER_MINUTE} minutes of mixed load`);
    const retention = `${Math.round(RETENTION_MS)}ms`;
    service = await services.start({
      env: {
        TEMPORAL_ADDRESS: undefined,
        TRUSTED_PROXIES: '127.0.0.1/32',
        GATEWAY_RATE_LIMIT: '999999999/1h',
        WEBHOOK_RETRY_DELAYS: '1s,2s',
        EVENT_RETENTION: retention,
        AUDIT_RETENTION: retention,
        IDEMPOTENCY_RETENTION: retention,
        PURGE_INTERVAL: '1s',
      },
    });
    await service.joinedTemporal();
    load = await MixedLoad.start(service, join(services.newDirectory(), 'records.jsonl'));
    const end = AbortSignal.timeout(MS);
    // Every loop of the load waits for it.
    setMaxListeners(0, end);
    [tallies, seen] = await Promise.all([load.run(end), observe(service, MS / OBSERVATIONS, end)]);
    await load.untilDelivered(BEFORE_AND_AFTER_MS);
    clear();
    if (isLong) {
      process.stderr.write(`${tableOf(tallies)}\n${grownTable(seen)}\n`);
    }
  }, MS + BEFORE_AND_AFTER_MS);

  afterAll(() => load?.stop());

  test('has no failed request', () => {
    expect(tallies.flatMap(({ name, failures }) => failures.map((failure) => ({ name, failure })))).toEqual(
      [],
    );
    expect(tallies.filter(({ tookMs }) => tookMs.length === 0).map(({ name }) => name)).toEqual([]);
  });

  test('leaves every role running and ready, without an error in the log', () => {
    // A node is degraded or unready for up to two looks if a busy machine delays the answer of a role.
    const isUnready = (status: string) => status !== 'ready' && status !== 'degraded';
    const unready = seen.readiness.map(isUnready);
    expect(unready.filter((is, index) => is && unready[index - 1] && unready[index - 2])).toEqual([]);
    const lines = service.output.lines();
    expect(lines.filter(({ msg }) => msg?.endsWith('ended, starting it again'))).toEqual([]);
    // The server of Temporal also logs calls as errors that were given up while it was starting.
    const errors = lines.filter(({ level, component }) => level === 'error' && component === undefined);
    expect(errors).toEqual([]);
  });

  test('delivers every event exactly once to the receivers that accept', async () => {
    const records = await load.subscribers.records();
    for (const index of ACCEPTING) {
      const ofOne = records.filter((record) => record.index === index);
      expect(ofOne.filter(({ isGenuine }) => !isGenuine)).toEqual([]);
      expect(new Set(ofOne.map(({ eventId }) => eventId)).size).toBe(load.written);
      expect(ofOne).toHaveLength(load.written);
    }
  });

  test(
    'purges every event that it made, with its deliveries and attempts',
    async () => {
      expect(PURGED.filter((table) => Math.max(...(seen.rows.get(table) ?? [0])) === 0)).toEqual([]);
      await eventually(
        'the tables of events, deliveries and attempts are empty',
        () => PURGED.every((table) => rowsIn(service, table) === 0),
        BEFORE_AND_AFTER_MS + RETENTION_MS,
      );
    },
    BEFORE_AND_AFTER_MS + 2 * RETENTION_MS,
  );

  // Beside other tests, a request can wait longer than the service lets it, and the client asks again.
  test('needs few retries', () => {
    const answered = tallies.reduce((sum, { tookMs }) => sum + tookMs.length, 0);
    expect(load.interruptions.length).toBeLessThan(answered / 10);
  });

  if (isLong) {
    test('needs no retry', () => {
      expect(load.interruptions).toEqual([]);
    });

    test('keeps no rows past their retention', () => {
      const grown = [...seen.rows].flatMap(([table, rows]) => {
        const { second, last } = thirdsOf(rows);
        const allowed = GROW_WITH_SIGN_INS.includes(table)
          ? Math.max(...rows.slice(0, 1)) + 2 * load.signIns + FEW_ROWS
          : Math.max(...second) * MOST_ROWS_GROWTH + FEW_ROWS;
        return Math.max(...last) > allowed
          ? [{ table, second: Math.max(...second), last: Math.max(...last) }]
          : [];
      });
      expect(grown).toEqual([]);
    });

    test('uses no more memory in the last third than in the second', () => {
      for (const [role, megabytes] of seen.megabytes) {
        const { second, last } = thirdsOf(megabytes);
        const growth = Math.min(...last) / Math.min(...second);
        expect({ role, growth, isFlat: growth <= MOST_MEMORY_GROWTH }).toMatchObject({ role, isFlat: true });
      }
    });
  }
});

function grownTable({ megabytes, rows }: Observations): string {
  const memory = [...megabytes].map(([role, values]) => {
    const { second, last } = thirdsOf(values);
    return `${role}: ${Math.round(Math.min(...second))} MB, then ${Math.round(Math.min(...last))} MB`;
  });
  const tables = [...rows].flatMap(([table, values]) => {
    const { second, last } = thirdsOf(values);
    const most = Math.max(...last);
    return most > FEW_ROWS ? [`${table}: ${Math.max(...second)} rows, then ${most}`] : [];
  });
  return [...memory, ...tables].join('\n');
}
