import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { databaseUnderTest } from '../../support/databases.js';
import { deadRowsRig, type Sent } from './dead-rows.js';

/** As many as 30 minutes of 300 a second make, with `make chaos`. */
const DELIVERIES = Number(process.env.CHAOS_DELIVERIES ?? 3_000);
const SENT = 128 * Math.ceil(Math.min(DELIVERIES, 100_000) / 1_280);

const under = databaseUnderTest('PostgreSQL');

function inWords(title: string, sent: Sent, sizes: Record<string, number>): string {
  const { deliveries = 0, ...indexes } = sizes;
  const bytes = Object.values(indexes).reduce((sum, size) => sum + size, 0);
  const megabytes = (size: number) => `${(size / 1_000_000).toFixed(1)} MB`;
  const [perSecond, claimMs, recordMs, longest] = [
    ...[sent.perSecond, sent.claimMs, sent.recordMs, sent.longestClaimMs],
  ].map((value) => Math.round(value));
  return `\n${title}: ${perSecond} deliveries a second (claims ${claimMs} ms, the longest ${longest} ms, results ${recordMs} ms); table ${megabytes(deliveries)}, indexes ${megabytes(bytes)}`;
}

test(`beside a snapshot and ${DELIVERIES} later deliveries, claims find what is due, and then the table keeps its size`, async () => {
  const rig = await deadRowsRig(under);
  const measured = async (title: string) => {
    // The first ones find out how slow a look is.
    await rig.send(SENT / 2);
    const sent = await rig.send(SENT);
    if (process.env.CHAOS_DELIVERIES) {
      process.stderr.write(inWords(title, sent, await rig.sizes()));
    }
  };
  const vacuum = () => sql`vacuum analyze deliveries`.execute(rig.database.patient);
  await measured('without a snapshot');
  const release = await rig.openSnapshot();
  await rig.deliver(DELIVERIES);
  await vacuum();
  await measured(`with a snapshot, after ${DELIVERIES} deliveries`);
  const { rows } = await sql`
    select status, attempts_begun as begun, count(*)::int as count from deliveries group by 1, 2
  `.execute(rig.database.reader);
  expect(rows).toEqual([
    { status: 'DELIVERED', begun: 1, count: DELIVERIES + 3 * SENT + rig.subscriptions.length },
  ]);
  await release();
  await vacuum();
  const before = (await rig.sizes()).deliveries as number;
  await rig.deliver(DELIVERIES / 2);
  expect((await rig.sizes()).deliveries).toBeLessThanOrEqual(before);
  await vacuum();
  await measured('after the snapshot');
}, 1_800_000);
