import { readFileSync, statSync } from 'node:fs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Sqlite } from '../../../../src/store/better-sqlite3.js';
import type { Driven } from '../line-driver.js';
import { type Report, syncRig } from './rig.js';
import { entitiesIn } from './store-file.js';

/** What other programs may do to a copy in a file, and what is in it after its own was killed. */
export function describeSyncFile(driver: Driven): void {
  describe('a copy in sqlite', () => {
    const rig = syncRig(driver);
    const { path, another, begin, start, catchUp, stop, beginnings } = rig;

    test('follows while another program reads the file, and lets only its owner read what is beside it', async () => {
      await start('sqlite');
      await rig.gateway.caughtUp();
      const reader = new Sqlite(path(), { readonly: true });
      try {
        const rows = reader.prepare('select * from entities').iterate();
        rows.next();
        rig.gateway.set('worker', 'wrk_4');
        await rig.gateway.caughtUp();
        expect(entitiesIn(path())).toEqual(rig.gateway.entities());
        const modes = ['-wal', '-shm'].map((suffix) => statSync(path() + suffix).mode & 0o777);
        expect(modes).toEqual(Array(2).fill(statSync(path()).mode & 0o777));
        rows.return?.();
      } finally {
        reader.close();
      }
      expect(await stop()).toMatchObject({ differences: [], errors: [], failure: null });
    });

    test('follows again once another program has ended a long write of the file', async () => {
      await start('sqlite');
      await rig.gateway.caughtUp();
      const writer = new Sqlite(path());
      try {
        writer.exec('begin immediate');
        const { length } = rig.gateway.asked;
        rig.gateway.set('worker', 'wrk_4');
        await rig.gateway.until(() => rig.gateway.asked.length > length);
        writer.exec('rollback');
        // What was read could not be stored.
        expect(rig.gateway.asked.at(-1)).toBe(rig.gateway.asked.at(-2));
      } finally {
        writer.close();
      }
      await rig.gateway.caughtUp();
      const report = await stop();
      expect(entitiesIn(path())).toEqual(rig.gateway.entities());
      expect(report).toMatchObject({ differences: [], failure: null });
      expect(report.errors).not.toEqual([]);
    });

    test('keeps no bytes of what was removed', async () => {
      rig.gateway.set('worker', 'wrk_4', { id: 'wrk_4', name: 'Quendolin' });
      await catchUp('sqlite');
      rig.gateway.remove('worker', 'wrk_4');
      await catchUp('sqlite');
      const database = new Sqlite(path());
      database.pragma('wal_checkpoint(truncate)');
      database.close();
      expect(readFileSync(path(), 'latin1')).not.toContain('Quendolin');
    });

    describe('whose program is killed', () => {
      beforeEach(() => {
        for (let count = 10; count < 40; count += 1) {
          rig.gateway.set('worker', `wrk_${count}`);
        }
      });

      /** Runs programs one after another, each killed at its first request, until one ends by itself. */
      const killedAtEachRequest = async () => {
        for (let kills = 0; ; kills += 1) {
          const program = another();
          const { length } = rig.gateway.asked;
          const isAsked = rig.gateway.until(() => rig.gateway.asked.length > length + kills);
          const outcome = begin('catchUp', 'sqlite', { waitSeconds: 0 }, program);
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
        expect(entitiesIn(path())).toEqual(rig.gateway.entities());
        expect(report.differences).toEqual([]);
      });

      test('while it begins again, ends without what there is no longer', async () => {
        await catchUp('sqlite');
        rig.gateway.restoreWithout('worker', 'wrk_3');
        rig.gateway.set('worker', 'wrk_4');
        rig.gateway.remove('worker', 'wrk_1');
        const { kills } = await killedAtEachRequest();
        expect(kills).toBeGreaterThan(3);
        expect(entitiesIn(path())).toEqual(rig.gateway.entities());
      });

      test('goes on in another program with what the file has', async () => {
        await catchUp('sqlite');
        rig.gateway.set('worker', 'wrk_2', { id: 'wrk_2', name: 'later' });
        await catchUp('sqlite', {}, another());
        expect(entitiesIn(path())).toEqual(rig.gateway.entities());
        expect(beginnings()).toBe(1);
      });
    });
  });
}
