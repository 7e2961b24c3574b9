import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Database } from '../../../src/store/database.js';
import { openPostgres } from '../../../src/store/dialects/postgres/postgres.js';
import { progressOn } from '../../bench/harness/progress.js';
import { PATIENT } from '../../support/databases.js';
import { findToolchain } from '../../support/programs.js';
import { serviceProcesses } from '../../support/service-process.js';
import { faultsOf } from '../webhooks/judge.js';
import { LINKS, type LinkedService, startLinkedService } from './linked-service.js';
import { Load } from './load.js';
import { strikesOf } from './plan.js';
import { BEHAVIOURS, LinkStorm } from './storm.js';
import { differencesFrom, refusalsOf } from './token-user.js';

/** `make chaos` asks for many; without it each link is struck once. */
const { CHAOS_SEED, CHAOS_EVENTS } = process.env;
const isLong = CHAOS_EVENTS !== undefined;
const isWatched = isLong || CHAOS_SEED !== undefined;
const seed = Number(CHAOS_SEED ?? randomInt(1, 2 ** 31));
const rounds = isLong ? Math.max(1, Math.floor(Number(CHAOS_EVENTS) / 7_000)) : 0;
const temporal = findToolchain('temporal', process.env);
const links = LINKS.filter((link) => link !== 'worker to Temporal' || temporal !== undefined);
const strikes = strikesOf({ seed, links, rounds });
const LIMIT_MS = 300_000 + strikes.length * 60_000;
const END_LIMIT_MS = 180_000;
const SHOWN_FAULTS = 20;

describe(`${strikes.length} times a link between two parts is cut, silent, forgotten or slow (CHAOS_SEED=${seed})`, () => {
  const services = serviceProcesses();
  const { progress, clear } = isWatched ? progressOn(process.stderr) : { progress: ignore, clear: ignore };
  let service: LinkedService;
  let database: Database;
  let load: Load;
  let storm: LinkStorm;

  beforeAll(async () => {
    progress(`CHAOS_SEED=${seed}`);
    service = await startLinkedService(services, {
      temporal,
      receivers: BEHAVIOURS.length,
      retryDelays: '300ms,600ms',
      timeoutMs: 2_000,
    });
    database = await openPostgres(service.databaseUrl, () => undefined, PATIENT);
    load = await Load.prepare(service, database, seed);
    storm = new LinkStorm(service, load, progress);
    await storm.run(strikes, END_LIMIT_MS);
    clear();
  }, LIMIT_MS);
  afterAll(async () => {
    load?.close();
    await database?.close();
    await service?.stop();
  });

  test('each was felt, and each caller was served again after it', () => {
    expect(storm.struck).toEqual(strikes);
  });

  test(
    'no code and no refresh token is granted twice, and no grant is lost',
    async () => {
      expect(load.tokenUsers.flatMap(({ faults }) => faults)).toEqual([]);
      const families = load.tokenUsers.flatMap((user) => user.families);
      expect(await differencesFrom(database, families)).toEqual([]);
      expect(await refusalsOf(load.on, families)).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'each acknowledged write can be read, and has its event once',
    async () => {
      expect(await load.unreadable()).toEqual([]);
      const { events } = await storm.evidence();
      const created = events.filter(({ type }) => type === 'user.created').map(({ entityId }) => entityId);
      expect(new Set(created).size).toBe(created.length);
      expect(created).toEqual(expect.arrayContaining(load.writers.flatMap((writer) => writer.acknowledged)));
      const moved = load.crowds.reduce((sum, crowd) => sum + crowd.moved, 0);
      expect(events.filter(({ type }) => type === 'user.updated')).toHaveLength(moved);
    },
    LIMIT_MS,
  );

  test(
    'each event is delivered or exhausted, by the records of the receivers',
    async () => {
      const faults = faultsOf(await storm.evidence());
      expect({ count: faults.length, faults: faults.slice(0, SHOWN_FAULTS) }).toEqual({
        count: 0,
        faults: [],
      });
    },
    LIMIT_MS,
  );

  test('no read fails while a link of one of two domains is struck', () => {
    expect(load.traffic.faults).toEqual([]);
    expect(storm.reads.filter(({ isCalm, refused, cut }) => isCalm && refused + cut > 0)).toEqual([]);
  });
});

function ignore(): void {
  // No caller waits for it.
}
