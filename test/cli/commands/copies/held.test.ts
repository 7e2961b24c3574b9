import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { replayEvents } from '../../../../src/domain/webhooks/subscriptions/replay.js';
import { webhookUnitOfWork } from '../../../../src/store/adapters/webhooks/unit-of-work.js';
import type { Database } from '../../../../src/store/database.js';
import { openSqlite } from '../../../../src/store/dialects/sqlite.js';
import { OPERATOR } from '../../../store/adapters/operator/rig.js';
import { plantSubscription } from '../../../store/adapters/webhooks/sending/rig.js';
import {
  deliveriesIn,
  newConnection,
  plantDelivery,
} from '../../../store/adapters/webhooks/subscriptions/rig.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { integration } from '../../typed.js';
import { newLive, succeeded } from './rig.js';

const directory = temporaryDirectories();
const OCCURRED_AT = Date.parse('2026-02-03T04:05:06.789Z');

async function within<T>(DATA_DIR: string, use: (database: Database) => Promise<T>): Promise<T> {
  const database = openSqlite(join(DATA_DIR, 'integration.db'));
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

/** What `integration event replay` does in the service. */
async function replay(database: Database, command: string): Promise<void> {
  const [, subscriptionId = '', since = ''] = /--subscription (\S+) --since (\S+)$/m.exec(command) ?? [];
  const request = { subscriptionId, since: Date.parse(since), eventTypes: [], includeDelivered: false };
  const unitOfWork = inNameOf(OPERATOR, webhookUnitOfWork({ ...database, clock: Date.now }));
  const options = { clock: Date.now, signal: new AbortController().signal };
  for await (const _progress of replayEvents(unitOfWork, request, options)) {
    // To its end.
  }
}

/** A backup with a delivery that is pending. */
async function newBackup(folder: string) {
  const settings = await newLive(folder);
  const { subscription, waiting } = await within(settings.DATA_DIR as string, async (database) => {
    const { id: instance_integration_id, instanceId } = await newConnection(database);
    const made = { instance_integration_id, instance_id: instanceId };
    const receiver = { id: await plantSubscription(database, made), instanceId };
    // Sealed with a key that this environment does not have.
    await database.write((writer) => writer.deleteFrom('subscription_secrets').execute());
    const id = await plantDelivery(database, receiver as never, {}, OCCURRED_AT);
    return { subscription: receiver.id, waiting: id };
  });
  const backup = join(folder, 'backup');
  await succeeded(integration(['backup', backup], settings));
  return { settings, subscription, waiting, backup };
}

test('the printed commands send the deliveries that were pending at the time of the backup', async () => {
  const folder = directory();
  const { settings, subscription, waiting, backup } = await newBackup(folder);
  const into = { ...settings, DATA_DIR: join(folder, 'restored') };
  const report = await succeeded(integration(['restore', backup], into));
  expect(report).toMatch(
    / integration event replay --subscription whs_… --since 2026-02-03T04:05:06\.789Z$/m,
  );

  const [, days] = /^ {2}1\. Keep .*: set EVENT_RETENTION to (\d+)d or more$/m.exec(report) ?? [];
  expect(Number(days) * 86_400_000).toBeGreaterThan(Date.now() - OCCURRED_AT);
  const kept = { ...into, DATA_DIR: join(folder, 'kept'), EVENT_RETENTION: `${days}d` };
  expect(await succeeded(integration(['restore', backup], kept))).not.toContain('EVENT_RETENTION');

  const resumed = await succeeded(integration(['resume', subscription], into));
  const sent = await within(into.DATA_DIR, async (database) => {
    expect((await deliveriesIn(database)).get(waiting)).toMatchObject({ status: 'HELD' });
    await replay(database, resumed);
    return [...(await deliveriesIn(database)).values()];
  });
  expect(sent.map(({ origin, status, subscription_id }) => [origin, status, subscription_id])).toEqual([
    ['EVENT', 'CANCELLED', subscription],
    ['REPLAY', 'PENDING', subscription],
  ]);
});

test.each([[[]], [['--send-webhooks']]])(
  'what an earlier restore held is in the next steps of a restore with a list: %j',
  async (options) => {
    const folder = directory();
    const { settings, subscription, backup } = await newBackup(folder);
    const earlier = { ...settings, DATA_DIR: join(folder, 'earlier') };
    await succeeded(integration(['restore', backup], earlier));
    const second = join(folder, 'second');
    await succeeded(integration(['backup', second], earlier));
    await succeeded(integration(['resume', subscription], earlier));
    const list = join(folder, 'valid-now.json');
    expect(await integration(['revocations', list], earlier)).toMatchObject({ code: 0 });

    const into = { ...settings, DATA_DIR: join(folder, 'restored') };
    const report = await succeeded(integration(['restore', second, '--revocations', list, ...options], into));
    expect(report).toMatch(/^ {2}1\. Keep .*: set EVENT_RETENTION to \d+d or more$/m);
    expect(report).toMatch(
      / integration event replay --subscription whs_… --since 2026-02-03T04:05:06\.789Z$/m,
    );
  },
);
