import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Driven } from '../line-driver.js';
import { problem } from '../scripted-server.js';
import { LONG_SECONDS, syncRig } from './rig.js';

/** Comparisons of many clients, a slice of them at a time. */
export function describeSlices(driver: Driven): void {
  describe('a copy of more clients than are compared at once', () => {
    const rig = syncRig(driver);
    const { begin, start, stop, ended, copied, readOften } = rig;
    const ids = Array.from({ length: 250 }, (_, index) => `cli_${index + 1}`);
    /** The clients that were compared. */
    const compared = () =>
      rig.gateway.asked
        .filter((asked) => asked.includes('digest'))
        .map((asked) => new URL(asked, rig.gateway.url).searchParams.get('clientId') ?? '');
    const pass = (seconds: number) => driver.sdk.sync('pass', {}, [], { seconds });
    /** A change is read, and what is due then is compared, before the next read waits. */
    const follow = async () => {
      rig.gateway.set('worker', 'wrk_1');
      await rig.gateway.caughtUp();
    };

    const startCatchUp = () => begin('startCatchUp', 'memory', { waitSeconds: 0 });
    const makeFirstSliceLast = (seconds: number) => {
      rig.gateway.instead = (path) =>
        path.includes('digest') && compared().length === 200
          ? (...asked) => void pass(seconds).then(() => problem(500, 'internal_error')(...asked))
          : undefined;
    };

    beforeEach(() => {
      rig.gateway.pageSize = 1_000;
      for (const id of ids.slice(1)) {
        rig.gateway.addClient(id);
      }
    });

    test('follows between slices, which are a minute apart and go on after a failure', async () => {
      await start('memory');
      await rig.gateway.caughtUp();
      await pass(30);
      await follow();
      const first = new Set(compared());
      expect([compared().length, first.size]).toEqual([200, 200]);

      // The retry of the eleventh fails too.
      rig.gateway.instead = (path) =>
        path.includes('digest') && [211, 212].includes(compared().length)
          ? problem(500, 'internal_error')
          : undefined;
      await pass(30);
      await follow();
      await pass(30);
      await follow();
      expect(compared()).toHaveLength(212);

      rig.gateway.addClient('cli_later');
      await rig.gateway.caughtUp();
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
      expect(copied('memory', report)).toEqual(rig.gateway.entities());
    });

    test('has its next slice when that is due, however long the pauses between reads are', async () => {
      makeFirstSliceLast(59);
      await start('memory', { waitSeconds: 0, pauseSeconds: LONG_SECONDS });
      await rig.gateway.until(() => new Set(compared()).size === ids.length);
      expect(await stop()).toMatchObject({ differences: [], errors: [], failure: null });
    });

    test('is compared to its end by catching up, and repaired in each slice', async () => {
      makeFirstSliceLast(60);
      await startCatchUp();
      await rig.gateway.until(() => compared().length === 200);
      const late = ids.find((id) => !compared().includes(id)) ?? '';
      rig.gateway.slip('jobTitles', late, ['Baker', 'Cook']);
      const report = await ended();
      expect(new Set(compared())).toEqual(new Set(ids));
      expect(report.differences).toMatchObject([{ clientId: late, type: 'jobTitles' }]);
      expect(copied('memory', report)).toEqual(rig.gateway.entities());
    });

    test('is not read between two slices of catching up, which ends there when it is told to', async () => {
      await startCatchUp();
      await rig.gateway.until(() => compared().length === 200);
      await readOften();
      await stop();
      expect(rig.gateway.asked.filter((asked) => asked.includes('/changes'))).toHaveLength(201);
    });
  });
}
