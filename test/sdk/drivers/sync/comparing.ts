import { describe, expect, test } from '@jest/globals';
import type { Driven } from '../line-driver.js';
import { LONG_SECONDS, syncRig } from './rig.js';

/** Comparing a copy by the digests, and repairing it. */
export function describeComparing(driver: Driven): void {
  describe.each(['memory', 'sqlite'])('a copy in %s', (store) => {
    const rig = syncRig(driver);
    const { start, catchUp, stop, copied, beginnings } = rig;

    test('is compared, reported and repaired', async () => {
      await start(store, { waitSeconds: 0, compareEverySeconds: 0, pauseSeconds: LONG_SECONDS });
      await rig.gateway.until(() => rig.gateway.asked.some((asked) => asked.includes('digest')));
      rig.gateway.slip('worker', 'wrk_2', { id: 'wrk_2', name: 'missed' });
      await driver.sdk.sync('wake');
      await rig.gateway.until(
        () => beginnings() === 2 && rig.gateway.asked.at(-1)?.includes('digest') === true,
      );
      const report = await stop();
      expect(report.differences).toMatchObject([
        { clientId: 'cli_1', type: 'worker', count: 3, storedCount: 3 },
      ]);
      expect(copied(store, report)).toEqual(rig.gateway.entities());
    });

    test('does not differ because of what changes during a comparison', async () => {
      rig.gateway.instead = (path) => {
        if (path.includes('digest')) {
          rig.gateway.instead = () => undefined;
          rig.gateway.set('worker', 'wrk_1', { id: 'wrk_1', name: 'changed meanwhile' });
        }
        return undefined;
      };
      const report = await catchUp(store);
      expect(report).toMatchObject({ differences: [], failure: null });
      expect(copied(store, report)).toEqual(rig.gateway.entities());
      expect(beginnings()).toBe(1);
    });

    test('does not differ because of a change that is made anew before it is read, and then cannot be', async () => {
      const change = (name: string) => rig.gateway.set('worker', 'wrk_1', { id: 'wrk_1', name });
      const steps = [
        () => change('counted by the first comparison'),
        () => {
          rig.gateway.hide();
          change('made anew');
        },
        () => rig.gateway.show(),
      ];
      rig.gateway.instead = (path) => {
        if (path.includes('digest') || (path.includes('changes') && steps.length === 2)) {
          steps.shift()?.();
        }
        return undefined;
      };
      const report = await catchUp(store);
      expect(report).toMatchObject({ differences: [], errors: [], failure: null });
      expect(copied(store, report)).toEqual(rig.gateway.entities());
      expect([steps, beginnings()]).toEqual([[], 1]);
    });

    test('is not called equal, nor different, while a client changes during each comparison', async () => {
      rig.gateway.instead = (path) => {
        if (path.includes('digest')) {
          rig.gateway.set('worker', 'wrk_1', { id: 'wrk_1', name: 'changed again' });
        }
        return undefined;
      };
      const report = await catchUp(store);
      expect(report).toMatchObject({ differences: [], errors: ['undecided: cli_1'], failure: null });
      expect(beginnings()).toBe(1);
    });
  });
}
