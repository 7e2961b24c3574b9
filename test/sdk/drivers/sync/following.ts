import { describe, expect, test } from '@jest/globals';
import { changeOf, FOREVER_SECONDS } from '../changes.js';
import type { Driven } from '../line-driver.js';
import { hangUp, json, page, problem } from '../scripted-server.js';
import { CHANGES, LONG_SECONDS, syncRig } from './rig.js';

/** Loading a copy and following what changes, until it is told to stop. */
export function describeFollowing(driver: Driven): void {
  describe.each(['memory', 'sqlite'])('a copy in %s', (store) => {
    const rig = syncRig(driver);
    const { start, catchUp, stop, ended, copied, beginnings } = rig;

    test('has all that there is, follows what changes, and is proven by the digests', async () => {
      await start(store);
      await rig.gateway.caughtUp();
      rig.gateway.set('worker', 'wrk_4');
      await rig.gateway.caughtUp();
      rig.gateway.set('worker', 'wrk_1', { id: 'wrk_1', name: 'Priya 🥐', added: [1, null] });
      rig.gateway.remove('worker', 'wrk_2');
      rig.gateway.addClient('cli_2');
      rig.gateway.set('shift', 'shf_1', { hours: 8 });
      await rig.gateway.caughtUp();
      const report = await stop();
      expect(copied(store, report)).toEqual(rig.gateway.entities());
      expect(report).toMatchObject({ differences: [], errors: [], failure: null });
      expect(rig.gateway.asked).toContain('/v1/instance-integrations/iin_1/changes/digest?clientId=cli_1');
      expect(beginnings()).toBe(1);
    });

    test('waits out what passes, as long as it says', async () => {
      // As often as a read is tried.
      const late = Array.from({ length: 4 }, () => problem(408, 'invalid_request'));
      const failures = [...late, problem(500, 'internal_error'), page(502), hangUp, hangUp, hangUp];
      rig.gateway.instead = (_, count) => failures[count - 1];
      await start(store);
      await rig.gateway.caughtUp();
      rig.gateway.instead = () => {
        rig.gateway.instead = () => undefined;
        return problem(429, 'rate_limited', { 'retry-after': '1' });
      };
      rig.gateway.set('worker', 'wrk_4');
      await rig.gateway.caughtUp();
      const report = await stop();
      expect(copied(store, report)).toEqual(rig.gateway.entities());
      expect(report.errors.length).toBeGreaterThan(0);
      expect(report.failure).toBeNull();
    });

    test('ends at what does not pass', async () => {
      rig.gateway.instead = () => problem(401, 'api_key_unknown');
      await start(store);
      expect(await ended()).toMatchObject({ failure: { name: 'ApiError', code: 'api_key_unknown' } });
      expect(rig.gateway.asked).toHaveLength(1);
    });

    test('begins again after a restore of the service, and keeps nothing that this did not have', async () => {
      await start(store);
      await rig.gateway.caughtUp();
      rig.gateway.restoreWithout('worker', 'wrk_3');
      rig.gateway.set('worker', 'wrk_4');
      await rig.gateway.caughtUp();
      const report = await stop();
      expect(copied(store, report)).toEqual(rig.gateway.entities());
      expect(report.differences).toEqual([]);
      expect(beginnings()).toBe(2);
    });

    test('ends when it is told to, also before it has read all, which it then does not compare', async () => {
      rig.gateway.instead = (path, count) => {
        const cursor = `a.${count}`;
        const change = changeOf('shift', `shf_${count}`, { hours: 8 }, { cursor });
        return CHANGES.test(path) ? json([change], { link: `<?after=${cursor}>; rel="next"` }) : undefined;
      };
      await start(store);
      await rig.gateway.until(() => rig.gateway.asked.length > 2);
      expect(await stop()).toMatchObject({ differences: [], errors: [], failure: null });
      expect(rig.gateway.asked.filter((asked) => !CHANGES.test(asked))).toEqual([]);
    });

    test('follows again after it was stopped', async () => {
      await start(store);
      await rig.gateway.caughtUp();
      await stop();
      rig.gateway.set('worker', 'wrk_4');
      const { length } = rig.gateway.asked;
      await driver.sdk.sync('again');
      // The one after a read that found something comes when that is stored.
      await rig.gateway.until(() => rig.gateway.asked.length > length + 1);
      expect(copied(store, await stop())).toEqual(rig.gateway.entities());
    });

    test('of nothing is empty, until there is something', async () => {
      await rig.useEmptyGateway();
      const empty = await catchUp(store);
      expect(copied(store, empty)).toEqual([]);
      rig.gateway.addClient('cli_1');
      expect(copied(store, await catchUp(store))).toEqual(rig.gateway.entities());
    });
  });

  // The time of a read does not depend on the store, so one store is enough.
  describe('a copy', () => {
    const store = 'memory';
    const rig = syncRig(driver);
    const { start, stop, copied, readOften } = rig;

    test('is read once a second at most, however much changes and wakes it', async () => {
      const at: number[] = [];
      rig.gateway.instead = (path) => {
        if (CHANGES.test(path)) {
          at.push(performance.now());
          rig.gateway.set('worker', 'wrk_1', { id: 'wrk_1', name: `changed for read ${at.length}` });
          void driver.sdk.sync('wake');
        }
        return undefined;
      };
      rig.gateway.pageSize = 100;
      await start(store, { pauseSeconds: LONG_SECONDS });
      await rig.gateway.until(() => at.length === 8);
      await stop();
      // Six seconds, but for the time that a read takes to arrive. The first may take longer: it connects.
      expect((at[7] ?? 0) - (at[1] ?? 0)).toBeGreaterThan(4_000);
    });

    test('does not look again before a pause without an end is over', async () => {
      const reads = () => rig.gateway.asked.filter((asked) => CHANGES.test(asked)).length;
      // When the pause begins, the least time between two reads has passed.
      rig.gateway.instead = (path) =>
        CHANGES.test(path) && reads() === 4
          ? (...asked) =>
              void driver.sdk
                .sync('pass', {}, [], { seconds: 2 })
                .then(() => problem(500, 'internal_error')(...asked))
          : undefined;
      await start(store, { waitSeconds: 0, pauseSeconds: FOREVER_SECONDS });
      // The three pages of the load, a read that fails, and the same again, which finds nothing.
      await rig.gateway.until(() => reads() === 5);
      await readOften();
      expect(reads()).toBe(5);
      expect(await stop()).toMatchObject({ failure: null });
    });

    test('looks at once when it is woken', async () => {
      await start(store, { waitSeconds: 0, pauseSeconds: LONG_SECONDS });
      await rig.gateway.until(() => rig.gateway.asked.at(-2)?.includes('digest') === true);
      rig.gateway.set('worker', 'wrk_4');
      const { length } = rig.gateway.asked;
      await driver.sdk.sync('wake');
      // The one after a read that found something is at once, and comes when that is stored.
      await rig.gateway.until(() => rig.gateway.asked.length > length + 1);
      expect(copied(store, await stop())).toEqual(rig.gateway.entities());
    });

    test('waits as long as it is told to, even if it is woken meanwhile', async () => {
      await start(store);
      await rig.gateway.caughtUp();
      rig.gateway.instead = () => problem(429, 'rate_limited', { 'retry-after': String(LONG_SECONDS) });
      rig.gateway.set('worker', 'wrk_4');
      const changesAsked = () => rig.gateway.asked.filter((asked) => CHANGES.test(asked)).length;
      const before = changesAsked();
      await rig.gateway.until(() => changesAsked() === before + 1);
      await readOften(() => driver.sdk.sync('wake'));
      expect(await stop()).toMatchObject({ failure: null });
      expect(changesAsked()).toBe(before + 1);
    });
  });
}
