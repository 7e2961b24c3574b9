import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { progressOn } from '../../bench/harness/progress.js';
import type { Driven } from '../../sdk/drivers/line-driver.js';
import { goDriver } from '../../sdk/go/go-driver.js';
import { pythonDriver } from '../../sdk/python/python-driver.js';
import { typescriptDriver } from '../../sdk/typescript/typescript-driver.js';
import { randomFrom } from '../../support/random-from.js';
import { serviceProcesses } from '../../support/service-process.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { describeWith } from '../../support/toolchains.js';
import { Copy } from './copy.js';
import type { Listed } from './gateway-lists.js';
import { type Place, servedOnPostgres, servedOnSqlite } from './places.js';
import { SlowTransactions } from './slow-transactions.js';
import { instanceId, KINDS_OF_PLATFORM, MirrorStorm } from './storm.js';
import { type Strike, strikesOf } from './strikes.js';

/** `make chaos` asks for many; without it there are so few that they are soon done. */
const { CHAOS_SEED, CHAOS_EVENTS } = process.env;
const isLong = CHAOS_EVENTS !== undefined;
/** A run with chosen parameters shows its progress. */
const isWatched = isLong || CHAOS_SEED !== undefined;
const seed = Number(CHAOS_SEED ?? randomInt(1, 2 ** 31));
/** Half of the events on each database. */
const writes = isLong ? Math.ceil(Number(CHAOS_EVENTS) / 2) : 200;
const rounds = isLong ? Math.max(1, Math.min(10, Math.floor(writes / 500))) : 1;
const MIRROR_KILLS = 3;
const LIMIT_MS = 400_000 + writes * 60;

describeWith('python', `three mirrors while every process is killed (CHAOS_SEED=${seed})`, (python) =>
  describeWith('go', 'by the three SDKs', (go) => {
    const programs: Record<string, Driven> = {
      typescript: typescriptDriver(),
      python: pythonDriver(python),
      go: goDriver(go),
    };
    describeStorm('SQLite', programs, servedOnSqlite);
    describeStorm('PostgreSQL', programs, servedOnPostgres);
  }),
);

function describeStorm(
  kind: 'SQLite' | 'PostgreSQL',
  programs: Readonly<Record<string, Driven>>,
  serve: (services: ReturnType<typeof serviceProcesses>) => Promise<Place>,
): void {
  describe(`of ${writes} writes on ${kind}`, () => {
    const services = serviceProcesses();
    const newDirectory = temporaryDirectories(afterAll);
    const { progress, clear } = isWatched ? progressOn(process.stderr) : { progress: ignore, clear: ignore };
    const copies: Copy[] = [];
    let place: Place;
    let slow: SlowTransactions | undefined;
    let strikes: Strike[];
    let storm: MirrorStorm;
    let listed: Listed;

    beforeAll(async () => {
      progress(`CHAOS_SEED=${seed}`);
      place = await serve(services);
      slow =
        kind === 'PostgreSQL'
          ? await SlowTransactions.over(place.database, instanceId, randomFrom(seed))
          : undefined;
      for (const [language, driver] of Object.entries(programs)) {
        const program = () => driver.another();
        copies.push(new Copy({ ...{ language, program, directory: newDirectory() }, ...place.reader }));
      }
      strikes = strikesOf({
        ...{ seed, writes, rounds, mirrorKills: MIRROR_KILLS },
        services: Object.keys(place.kills),
        mirrors: copies.map(({ language }) => language),
      });
      storm = new MirrorStorm({ seed, writes, strikes, copies, place, slow, progress });
      await storm.run();
      listed = await storm.listed();
      clear();
    }, LIMIT_MS);

    afterAll(async () => {
      await Promise.all(copies.map((copy) => copy.kill()));
      await place?.close();
    });

    test('each process was killed as planned, and most writes done, of more than half of the kinds', () => {
      const byTarget = (list: readonly Strike[]) => list.map(({ target }) => target).sort();
      expect(byTarget(storm.struck)).toEqual(byTarget(strikes));
      // Some refer to a row that is gone meanwhile, or to one that others need.
      expect(storm.refused).toBeLessThan(storm.acknowledged.count);
      expect(storm.done.size).toBeGreaterThan(KINDS_OF_PLATFORM.length / 2);
      if (isWatched) {
        const { count } = storm.acknowledged;
        const slowly = slow
          ? `; of ${slow.committed.length} slow transactions ${slow.overtaken} overtaken, ${slow.rolledBack} rolled back`
          : '';
        process.stderr.write(
          `\n${kind}: ${count} writes, ${storm.refused} more refused; ${storm.struck.length} kills${slowly}\n`,
        );
      }
    });

    if (kind === 'PostgreSQL') {
      test('transactions committed in another order than they began, and some did not', () => {
        expect(slow?.overtaken).toBeGreaterThan(0);
      });
    }

    describe.each(Object.keys(programs))('the mirror by %s', (language) => {
      const mirror = () => copies.find((copy) => copy.language === language) as Copy;

      test('equals the lists of the gateway, field by field', () => {
        expect(mirror().resources()).toEqual(listed.resources);
      });

      test('has the digests of the gateway', () => {
        expect(mirror().digests()).toEqual(listed.digests);
      });

      test('was loaded once: no kill of a service or mirror makes a cursor expire', () => {
        expect(mirror().loads()).toBe(1);
      });

      test('never differed from a digest, and never gave up', async () => {
        await mirror().kill();
        expect(mirror().faults).toEqual([]);
      });
    });
  });
}

function ignore(): void {
  // No caller waits for it.
}
