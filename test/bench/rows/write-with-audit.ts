import { ok } from 'node:assert';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { metered } from '../subjects/meter.js';
import { clientsOf, renameUser, timeOfWrites, WRITES, WRITES_AT_ONCE } from '../subjects/platform.js';
import { databaseIn, startService } from '../subjects/service.js';
import { buildWithoutAudit } from '../subjects/without-audit.js';
import { makeWorkplace } from '../subjects/workplace.js';

const ALONE = 'platform write, one at a time (ms a write)';
const TOGETHER = 'platform write, 16 at once (ms a write)';
const PRICED = {
  what: 'platform write, with its event and its audit record, 16 at once',
  limit: 'The commit, which is shared with those that come with it',
};
const TERMS = { referenceName: 'without its audit record', goal: 1.1, higherIsBetter: false };

/** The cost of the audit record of a write, against the same service without audit. */
export const writeWithAudit: Comparison = {
  rows: { [ALONE]: TERMS, [TOGETHER]: TERMS },
  isPriced: true,
  warmUpRounds: 2,
  rounds: 9,
  setUp: async (scope, noteCost) => {
    const audited = await startPlatform(scope);
    const unaudited = await startPlatform(scope, await buildWithoutAudit());
    await audited.write(0);
    await unaudited.write(0);
    ok(audited.records() > 0, 'a write leaves an audit record');
    ok(unaudited.records() === 0, 'a write of the reference leaves none');
    const readingOf = async ({ write }: typeof audited, together = timeOfWrites) => ({
      [ALONE]: await timeOfWrites(1, write),
      [TOGETHER]: await together(WRITES_AT_ONCE, write),
    });
    const pricedTime: typeof timeOfWrites = async (...given) => {
      const { outcome, cost } = await metered(
        audited.service,
        () => timeOfWrites(...given),
        () => WRITES,
      );
      noteCost(PRICED, cost);
      return outcome;
    };
    return { ours: () => readingOf(audited, pricedTime), reference: () => readingOf(unaudited) };
  },
};

async function startPlatform(scope: Scope, command?: string) {
  const workplace = makeWorkplace(scope);
  const service = await startService(scope, workplace, {}, command);
  const { platform } = clientsOf(scope, workplace);
  return {
    service,
    write: (index: number) => renameUser(platform, index),
    records: () => {
      const database = new Sqlite(databaseIn(workplace), { readonly: true });
      try {
        const query = "select count(*) as records from audit_events where type = 'user.updated'";
        return (database.prepare(query).get() as { records: number }).records;
      } finally {
        database.close();
      }
    },
  };
}
