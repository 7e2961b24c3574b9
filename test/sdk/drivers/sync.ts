import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { changeOf, FOREVER_SECONDS } from './changes.js';
import { byTypeAndId, type ChangingGateway, type Copied, changingGateways } from './changing-gateway.js';
import type { Driven, LineDriver } from './line-driver.js';
import { hangUp, json, page, problem } from './scripted-server.js';

const IIN = 'iin_1';
/** Longer than any test. */
const LONG_SECONDS = 1_000;
const CHANGES = /\/changes(\?|$)/;

/** What a program says of a sync that has ended. */
interface Report {
  /** Only of a copy in memory. */
  entities: (Copied & { json: string })[] | null;
  differences: object[];
  /** Failures by their names, and comparisons that proved nothing. */
  errors: string[];
  failure: { name: string } | null;
}

/** What a store in a file has. */
export function entitiesIn(path: string): Copied[] {
  const database = new Sqlite(path, { readonly: true });
  try {
    const rows = database
      .prepare('select type, id, client_id as clientId, version, resource from entities')
      .all() as (Copied & { resource: string })[];
    return rows.map((row) => ({ ...row, resource: JSON.parse(row.resource) })).sort(byTypeAndId);
  } finally {
    database.close();
  }
}

/** Keeping a copy, over a gateway with changes made by the test. */
export function describeSync(driver: Driven): void {
  const newGateway = changingGateways();
  const newDirectory = temporaryDirectories(afterAll);
  let gateway: ChangingGateway;
  let path: string;
  const programs: LineDriver[] = [];

  beforeEach(async () => {
    gateway = await newGateway();
    path = join(newDirectory(), 'copy.sqlite');
    gateway.addClient('cli_1');
    for (const id of ['wrk_1', 'wrk_2', 'wrk_3']) {
      gateway.set('worker', id);
    }
  });

  afterEach(async () => {
    await Promise.all(programs.splice(0).map((program) => program.end()));
  });

  const another = () => {
    const program = driver.another();
    programs.push(program);
    return program;
  };
  const options = () => ({ baseUrl: gateway.url, retry: { maxRetries: 1, baseDelaySeconds: 0.001 } });
  const parameters = (store: string, more: object = {}) => ({
    store: store === 'sqlite' ? path : store,
    pauseSeconds: 0.01,
    ...more,
  });
  const start = (store: string, more: object = {}, program: LineDriver = driver.sdk) =>
    program.sync('start', options(), [IIN], parameters(store, more));
  const catchUp = async (store: string, more: object = {}, program: LineDriver = driver.sdk) =>
    told(await program.sync('catchUp', options(), [IIN], parameters(store, { waitSeconds: 0, ...more })));
  const stop = async (program: LineDriver = driver.sdk) => {
    const ended = program.sync('stop');
    gateway.stopHolding();
    return told(await ended);
  };
  const told = ({ value, error }: Awaited<ReturnType<LineDriver['sync']>>): Report => {
    expect(error).toBeUndefined();
    return value;
  };
  const copied = (store: string, { entities }: Report): Copied[] =>
    store === 'sqlite'
      ? entitiesIn(path)
      : (entities ?? [])
          .map(({ type, id, clientId, version, json }) => ({
            ...{ type, id, clientId, version },
            resource: JSON.parse(json),
          }))
          .sort(byTypeAndId);
  /** How often the sequence was read from its beginning. */
  const beginnings = () =>
    gateway.asked.filter((asked) => CHANGES.test(asked) && !asked.includes('after=')).length;

  describe.each(['memory', 'sqlite'])('a copy in %s', (store) => {
    test('has all that there is, follows what changes, and is proven by the digests', async () => {
      await start(store);
      await gateway.caughtUp();
      gateway.set('worker', 'wrk_4');
      await gateway.caughtUp();
      gateway.set('worker', 'wrk_1', { id: 'wrk_1', name: 'Priya 🥐', added: [1, null] });
      gateway.remove('worker', 'wrk_2');
      gateway.addClient('cli_2');
      gateway.set('shift', 'shf_1', { hours: 8 });
      await gateway.caughtUp();
      const report = await stop();
      expect(copied(store, report)).toEqual(gateway.entities());
      expect(report).toMatchObject({ differences: [], errors: [], failure: null });
      expect(gateway.asked).toContain(`/v1/instance-integrations/${IIN}/changes/digest?clientId=cli_1`);
      expect(beginnings()).toBe(1);
    });

    test('waits out what passes, as long as it says', async () => {
      // As often as a read is tried.
      const late = Array.from({ length: 4 }, () => problem(408, 'invalid_request'));
      const failures = [...late, problem(500, 'internal_error'), page(502), hangUp, hangUp, hangUp];
      gateway.instead = (_, count) => failures[count - 1];
      await start(store);
      await gateway.caughtUp();
      gateway.instead = () => {
        gateway.instead = () => undefined;
        return problem(429, 'rate_limited', { 'retry-after': '1' });
      };
      gateway.set('worker', 'wrk_4');
      await gateway.caughtUp();
      const report = await stop();
      expect(copied(store, report)).toEqual(gateway.entities());
      expect(report.errors.length).toBeGreaterThan(0);
      expect(report.failure).toBeNull();
    });

    test('ends at what does not pass', async () => {
      gateway.instead = () => problem(401, 'api_key_unknown');
      await start(store);
      expect(told(await driver.sdk.sync('ended'))).toMatchObject({
        failure: { name: 'ApiError', code: 'api_key_unknown' },
      });
      expect(gateway.asked).toHaveLength(1);
    });

    test('begins again after a restore of the service, and keeps nothing that this did not have', async () => {
      await start(store);
      await gateway.caughtUp();
      gateway.restoreWithout('worker', 'wrk_3');
      gateway.set('worker', 'wrk_4');
      await gateway.caughtUp();
      const report = await stop();
      expect(copied(store, report)).toEqual(gateway.entities());
      expect(report.differences).toEqual([]);
      expect(beginnings()).toBe(2);
    });

    test('ends when it is told to, also before it has read all, which it then does not compare', async () => {
      gateway.instead = (path, count) => {
        const cursor = `a.${count}`;
        const change = changeOf('shift', `shf_${count}`, { hours: 8 }, { cursor });
        return CHANGES.test(path) ? json([change], { link: `<?after=${cursor}>; rel="next"` }) : undefined;
      };
      await start(store);
      await gateway.until(() => gateway.asked.length > 2);
      expect(await stop()).toMatchObject({ differences: [], errors: [], failure: null });
      expect(gateway.asked.filter((asked) => !CHANGES.test(asked))).toEqual([]);
    });

    test('follows again after it was stopped', async () => {
      await start(store);
      await gateway.caughtUp();
      await stop();
      gateway.set('worker', 'wrk_4');
      const { length } = gateway.asked;
      await driver.sdk.sync('again');
      // The one after a read that found something comes when that is stored.
      await gateway.until(() => gateway.asked.length > length + 1);
      expect(copied(store, await stop())).toEqual(gateway.entities());
    });

    test('is read once a second at most, however much changes and wakes it', async () => {
      const at: number[] = [];
      gateway.instead = (path) => {
        if (CHANGES.test(path)) {
          at.push(performance.now());
          gateway.set('worker', 'wrk_1', { id: 'wrk_1', name: `changed for read ${at.length}` });
          void driver.sdk.sync('wake');
        }
        return undefined;
      };
      gateway.pageSize = 100;
      await start(store, { pauseSeconds: LONG_SECONDS });
      await gateway.until(() => at.length === 4);
      await stop();
      // Three seconds, but for the time that the first read took to arrive.
      expect((at[3] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(2_000);
    });

    test('does not look again before a pause without an end is over', async () => {
      const reads = () => gateway.asked.filter((asked) => CHANGES.test(asked)).length;
      // When the pause begins, the least time between two reads has passed.
      gateway.instead = (path) =>
        CHANGES.test(path) && reads() === 4
          ? (...asked) =>
              void driver.sdk
                .sync('pass', {}, [], { seconds: 2 })
                .then(() => problem(500, 'internal_error')(...asked))
          : undefined;
      await start(store, { waitSeconds: 0, pauseSeconds: FOREVER_SECONDS });
      // The three pages of the load, a read that fails, and the same again, which finds nothing.
      await gateway.until(() => reads() === 5);
      for (let count = 0; count < 5; count += 1) {
        await driver.sdk.gateway(options(), 'listClients', [IIN]);
      }
      expect(reads()).toBe(5);
      expect(await stop()).toMatchObject({ failure: null });
    });

    test('looks at once when it is woken', async () => {
      await start(store, { waitSeconds: 0, pauseSeconds: LONG_SECONDS });
      await gateway.until(() => gateway.asked.at(-2)?.includes('digest') === true);
      gateway.set('worker', 'wrk_4');
      const { length } = gateway.asked;
      await driver.sdk.sync('wake');
      // The one after a read that found something is at once, and comes when that is stored.
      await gateway.until(() => gateway.asked.length > length + 1);
      expect(copied(store, await stop())).toEqual(gateway.entities());
    });

    test('waits as long as it is told to, even if it is woken meanwhile', async () => {
      await start(store);
      await gateway.caughtUp();
      gateway.instead = () => problem(429, 'rate_limited', { 'retry-after': String(LONG_SECONDS) });
      gateway.set('worker', 'wrk_4');
      const changesAsked = () => gateway.asked.filter((asked) => CHANGES.test(asked)).length;
      const before = changesAsked();
      await gateway.until(() => changesAsked() === before + 1);
      // Longer than a sync that is woken would take for its next request.
      for (let reads = 0; reads < 5; reads += 1) {
        await driver.sdk.sync('wake');
        await driver.sdk.gateway(options(), 'listClients', [IIN]);
      }
      expect(await stop()).toMatchObject({ failure: null });
      expect(changesAsked()).toBe(before + 1);
    });

    test('is compared, reported and repaired', async () => {
      await start(store, { waitSeconds: 0, compareEverySeconds: 0, pauseSeconds: LONG_SECONDS });
      await gateway.until(() => gateway.asked.some((asked) => asked.includes('digest')));
      gateway.slip('worker', 'wrk_2', { id: 'wrk_2', name: 'missed' });
      await driver.sdk.sync('wake');
      await gateway.until(() => beginnings() === 2 && gateway.asked.at(-1)?.includes('digest') === true);
      const report = await stop();
      expect(report.differences).toMatchObject([
        { clientId: 'cli_1', type: 'worker', count: 3, storedCount: 3 },
      ]);
      expect(copied(store, report)).toEqual(gateway.entities());
    });

    test('does not differ because of what changes during a comparison', async () => {
      gateway.instead = (path) => {
        if (path.includes('digest')) {
          gateway.instead = () => undefined;
          gateway.set('worker', 'wrk_1', { id: 'wrk_1', name: 'changed meanwhile' });
        }
        return undefined;
      };
      const report = await catchUp(store);
      expect(report).toMatchObject({ differences: [], failure: null });
      expect(copied(store, report)).toEqual(gateway.entities());
      expect(beginnings()).toBe(1);
    });

    test('does not differ because of a change that is made anew before it is read, and then cannot be', async () => {
      const change = (name: string) => gateway.set('worker', 'wrk_1', { id: 'wrk_1', name });
      const steps = [
        () => change('counted by the first comparison'),
        () => {
          gateway.hide();
          change('made anew');
        },
        () => gateway.show(),
      ];
      gateway.instead = (path) => {
        if (path.includes('digest') || (path.includes('changes') && steps.length === 2)) {
          steps.shift()?.();
        }
        return undefined;
      };
      const report = await catchUp(store);
      expect(report).toMatchObject({ differences: [], errors: [], failure: null });
      expect(copied(store, report)).toEqual(gateway.entities());
      expect([steps, beginnings()]).toEqual([[], 1]);
    });

    test('is not called equal, nor different, while a client changes during each comparison', async () => {
      gateway.instead = (path) => {
        if (path.includes('digest')) {
          gateway.set('worker', 'wrk_1', { id: 'wrk_1', name: 'changed again' });
        }
        return undefined;
      };
      const report = await catchUp(store);
      expect(report).toMatchObject({ differences: [], errors: ['undecided: cli_1'], failure: null });
      expect(beginnings()).toBe(1);
    });

    test('of nothing is empty, until there is something', async () => {
      gateway = await newGateway();
      const empty = await catchUp(store);
      expect(copied(store, empty)).toEqual([]);
      gateway.addClient('cli_1');
      expect(copied(store, await catchUp(store))).toEqual(gateway.entities());
    });
  });

  describe('a copy of more clients than are compared at once', () => {
    const ids = Array.from({ length: 250 }, (_, index) => `cli_${index + 1}`);
    /** The clients that were compared. */
    const compared = () =>
      gateway.asked
        .filter((asked) => asked.includes('digest'))
        .map((asked) => new URL(asked, gateway.url).searchParams.get('clientId') ?? '');
    const pass = (seconds: number) => driver.sdk.sync('pass', {}, [], { seconds });
    /** A change is read, and what is due then is compared, before the next read waits. */
    const follow = async () => {
      gateway.set('worker', 'wrk_1');
      await gateway.caughtUp();
    };

    const startCatchUp = () =>
      driver.sdk.sync('startCatchUp', options(), [IIN], parameters('memory', { waitSeconds: 0 }));
    const makeFirstSliceLast = (seconds: number) => {
      gateway.instead = (path) =>
        path.includes('digest') && compared().length === 200
          ? (...asked) => void pass(seconds).then(() => problem(500, 'internal_error')(...asked))
          : undefined;
    };

    beforeEach(() => {
      gateway.pageSize = 1_000;
      for (const id of ids.slice(1)) {
        gateway.addClient(id);
      }
    });

    test('follows between slices, which are a minute apart and go on after a failure', async () => {
      await start('memory');
      await gateway.caughtUp();
      await pass(30);
      await follow();
      const first = new Set(compared());
      expect([compared().length, first.size]).toEqual([200, 200]);

      // The retry of the eleventh fails too.
      gateway.instead = (path) =>
        path.includes('digest') && [211, 212].includes(compared().length)
          ? problem(500, 'internal_error')
          : undefined;
      await pass(30);
      await follow();
      await pass(30);
      await follow();
      expect(compared()).toHaveLength(212);

      gateway.addClient('cli_later');
      await gateway.caughtUp();
      await pass(30);
      await follow();
      const [failed] = compared().slice(210);
      expect(compared().sort()).toEqual([...ids, failed, failed].sort());

      await pass(3_500);
      await follow();
      expect(compared()).toHaveLength(252);
      await pass(100);
      await follow();
      expect(compared()).toHaveLength(452);
      const report = await stop();
      expect(report).toMatchObject({ differences: [], errors: ['ApiError'], failure: null });
      expect(copied('memory', report)).toEqual(gateway.entities());
    });

    test('has its next slice when that is due, however long the pauses between reads are', async () => {
      makeFirstSliceLast(59);
      await start('memory', { waitSeconds: 0, pauseSeconds: LONG_SECONDS });
      await gateway.until(() => new Set(compared()).size === ids.length);
      expect(await stop()).toMatchObject({ differences: [], errors: [], failure: null });
    });

    test('is compared to its end by catching up, and repaired in each slice', async () => {
      makeFirstSliceLast(60);
      await startCatchUp();
      await gateway.until(() => compared().length === 200);
      const late = ids.find((id) => !compared().includes(id)) ?? '';
      gateway.slip('jobTitles', late, ['Baker', 'Cook']);
      const report = told(await driver.sdk.sync('ended'));
      expect(new Set(compared())).toEqual(new Set(ids));
      expect(report.differences).toMatchObject([{ clientId: late, type: 'jobTitles' }]);
      expect(copied('memory', report)).toEqual(gateway.entities());
    });

    test('is not read between two slices of catching up, which ends there when it is told to', async () => {
      await startCatchUp();
      await gateway.until(() => compared().length === 200);
      // Longer than a sync without a pause would take for its next requests.
      for (let reads = 0; reads < 5; reads += 1) {
        await driver.sdk.gateway(options(), 'listClients', [IIN]);
      }
      await stop();
      expect(gateway.asked.filter((asked) => asked.includes('/changes'))).toHaveLength(201);
    });
  });

  test('a copy in sqlite follows again once another program has ended a long read of the file', async () => {
    await start('sqlite');
    await gateway.caughtUp();
    const reader = new Sqlite(path, { readonly: true });
    try {
      const rows = reader.prepare('select * from entities').iterate();
      rows.next();
      const { length } = gateway.asked;
      gateway.set('worker', 'wrk_4');
      await gateway.until(() => gateway.asked.length > length);
      rows.return?.();
      // What was read could not be stored.
      expect(gateway.asked.at(-1)).toBe(gateway.asked.at(-2));
    } finally {
      reader.close();
    }
    await gateway.caughtUp();
    const report = await stop();
    expect(entitiesIn(path)).toEqual(gateway.entities());
    expect(report).toMatchObject({ differences: [], failure: null });
    expect(report.errors).not.toEqual([]);
  });

  describe('a copy in sqlite, whose program is killed', () => {
    beforeEach(() => {
      for (let count = 10; count < 40; count += 1) {
        gateway.set('worker', `wrk_${count}`);
      }
    });

    /** Runs programs one after another, each killed at its first request, until one ends by itself. */
    const killedAtEachRequest = async () => {
      for (let kills = 0; ; kills += 1) {
        const program = another();
        const { length } = gateway.asked;
        const isAsked = gateway.until(() => gateway.asked.length > length + kills);
        const outcome = program.sync('catchUp', options(), [IIN], parameters('sqlite', { waitSeconds: 0 }));
        const report = await Promise.race([outcome, isAsked]);
        if (report?.value) {
          return { kills, report: report.value as Report };
        }
        await program.kill();
      }
    };

    test('at any request, loads on from where it was', async () => {
      const { kills, report } = await killedAtEachRequest();
      expect(kills).toBeGreaterThan(3);
      expect(entitiesIn(path)).toEqual(gateway.entities());
      expect(report.differences).toEqual([]);
    });

    test('while it begins again, ends without what there is no longer', async () => {
      await catchUp('sqlite');
      gateway.restoreWithout('worker', 'wrk_3');
      gateway.set('worker', 'wrk_4');
      gateway.remove('worker', 'wrk_1');
      const { kills } = await killedAtEachRequest();
      expect(kills).toBeGreaterThan(3);
      expect(entitiesIn(path)).toEqual(gateway.entities());
    });

    test('goes on in another program with what the file has', async () => {
      await catchUp('sqlite');
      gateway.set('worker', 'wrk_2', { id: 'wrk_2', name: 'later' });
      await catchUp('sqlite', {}, another());
      expect(entitiesIn(path)).toEqual(gateway.entities());
      expect(beginnings()).toBe(1);
    });
  });
}
