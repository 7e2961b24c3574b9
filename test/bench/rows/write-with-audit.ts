import { ok } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlatformServiceService } from '../../../generated/proto/integration/platform/v1/platform.js';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { metered } from '../subjects/meter.js';
import { databaseIn, dataDirIn, startService } from '../subjects/service.js';
import { buildWithoutAudit } from '../subjects/without-audit.js';
import { makeWorkplace } from '../subjects/workplace.js';

const ALONE = 'platform write, one at a time (ms a write)';
const TOGETHER = 'platform write, 16 at once (ms a write)';
const PRICED = {
  what: 'platform write, with its event and its audit record, 16 at once',
  limit: 'The commit, which is shared with those that come with it',
};
const TERMS = { referenceName: 'without its audit record', goal: 1.1, higherIsBetter: false };
const WRITES = 400;
const AT_ONCE = 16;

const [client] = demoSeed.clients;
const userIds = client?.users.filter(({ status }) => status === 'ACTIVE').map(({ id }) => id as string) ?? [];

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
    const readingOf = async ({ write }: typeof audited, together = timeOf) => ({
      [ALONE]: await timeOf(1, write),
      [TOGETHER]: await together(AT_ONCE, write),
    });
    const pricedTime: typeof timeOf = async (...given) => {
      const { outcome, cost } = await metered(
        audited.service,
        () => timeOf(...given),
        () => WRITES,
      );
      noteCost(PRICED, cost);
      return outcome;
    };
    return { ours: () => readingOf(audited, pricedTime), reference: () => readingOf(unaudited) };
  },
};

/** Milliseconds a write, with so many under way at any time. */
async function timeOf(atOnce: number, write: (index: number) => Promise<unknown>): Promise<number> {
  let next = 0;
  const writeOn = async () => {
    while (next < WRITES) {
      next += 1;
      await write(next);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: atOnce }, writeOn));
  return (performance.now() - startedAt) / WRITES;
}

async function startPlatform(scope: Scope, command?: string) {
  const workplace = makeWorkplace(scope);
  const service = await startService(scope, workplace, {}, command);
  const { grpcAddress, platformToken } = JSON.parse(
    readFileSync(join(dataDirIn(workplace), 'demo.json'), 'utf8'),
  ) as { grpcAddress: string; platformToken: string };
  const channel = new RpcChannel(grpcAddress, platformToken);
  scope.onEnd(() => channel.close());
  const platform = channel.clientOf(PlatformServiceService);
  return {
    service,
    write: (index: number) =>
      platform.updateUser(
        { userId: userIds[index % userIds.length] ?? '', lastName: randomUUID() },
        { requestId: randomUUID(), deadlineMs: 10_000 },
      ),
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
