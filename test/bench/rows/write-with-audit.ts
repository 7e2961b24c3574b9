import { ok } from 'node:assert';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { metered } from '../subjects/meter.js';
import { clientsOf, renameUser, timeOfWrites, WRITES, WRITES_AT_ONCE } from '../subjects/platform.js';
import { ask, type StoreKind, settingsOn, storeIn } from '../subjects/postgres.js';
import { databaseIn, startService } from '../subjects/service.js';
import { buildWithoutAudit } from '../subjects/without-audit.js';
import { makeWorkplace } from '../subjects/workplace.js';

const PRICED = {
  what: 'platform write, with its event and its audit record, 16 at once',
  limit: 'The commit, which is shared with those that come with it',
};
const REFERENCE = 'without its audit record';

/** The cost of the audit record of a write, against the same service without audit. */
export const writeWithAudit = writesOn('SQLite', 1.1);
export const writeWithAuditOnPostgres = writesOn('PostgreSQL');

function writesOn(store: StoreKind, goal?: number): Comparison {
  const alone = `platform write, one at a time${storeIn(store)} (ms a write)`;
  const together = `platform write, ${WRITES_AT_ONCE} at once${storeIn(store)} (ms a write)`;
  const terms = { referenceName: REFERENCE, goal, higherIsBetter: false };
  return {
    rows: { [alone]: terms, [together]: terms },
    priced: store === 'SQLite' ? PRICED : undefined,
    warmUpRounds: 2,
    rounds: store === 'SQLite' ? 9 : 3,
    setUp: async (scope, noteCost) => {
      const audited = await startPlatform(scope, store);
      const unaudited = await startPlatform(scope, store, await buildWithoutAudit());
      await audited.write(0);
      await unaudited.write(0);
      ok((await audited.records()) > 0, 'a write leaves an audit record');
      ok((await unaudited.records()) === 0, 'a write of the reference leaves none');
      const readingOf = async ({ write }: typeof audited, timeTogether = timeOfWrites) => ({
        [alone]: await timeOfWrites(1, write),
        [together]: await timeTogether(WRITES_AT_ONCE, write),
      });
      const pricedTime: typeof timeOfWrites = async (...given) => {
        const { outcome, cost } = await metered(
          audited.service,
          () => timeOfWrites(...given),
          () => WRITES,
        );
        noteCost(cost);
        return outcome;
      };
      return { ours: () => readingOf(audited, pricedTime), reference: () => readingOf(unaudited) };
    },
  };
}

async function startPlatform(scope: Scope, store: StoreKind, command?: string) {
  const workplace = makeWorkplace(scope);
  const settings = await settingsOn(store, scope, workplace);
  const service = await startService(scope, workplace, settings, command);
  const { platform } = clientsOf(scope, workplace);
  const query = "select count(*) as records from audit_events where type = 'user.updated'";
  return {
    service,
    write: (index: number) => renameUser(platform, index),
    records: async () => {
      if (settings.DATABASE_URL !== undefined) {
        const [row] = await ask(settings.DATABASE_URL, query);
        return Number(row?.records);
      }
      const database = new Sqlite(databaseIn(workplace), { readonly: true });
      try {
        return (database.prepare(query).get() as { records: number }).records;
      } finally {
        database.close();
      }
    },
  };
}
