import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Report, RestoreOptions } from '../../../../src/cli/commands/copies/restore-actions.js';
import { reportOf } from '../../../../src/cli/commands/copies/restore-report.js';
import { loadConfig } from '../../../../src/config/config.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { replayEvents } from '../../../../src/domain/webhooks/subscriptions/replay.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import type { Database } from '../../../../src/store/database.js';
import { openSqlite } from '../../../../src/store/dialects/sqlite.js';
import { OPERATOR } from '../../../store/adapters/operator/rig.js';
import { plantSubscription } from '../../../store/adapters/webhooks/sending/rig.js';
import {
  deliveriesIn,
  newConnection,
  plantDelivery,
} from '../../../store/adapters/webhooks/subscriptions/rig.js';
import { plantTrigger } from '../../../support/planted-triggers.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { integration, sharedIntegration } from '../../typed.js';
import { newLive, succeeded } from './rig.js';

const directory = temporaryDirectories();
const CONFIG = loadConfig({});
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
async function replay(database: Database, command: string, retentionMs: number): Promise<void> {
  const [, subscriptionId = '', since = ''] = /--subscription (\S+) --since (\S+)$/m.exec(command) ?? [];
  const request = { subscriptionId, since: Date.parse(since), eventTypes: [], includeDelivered: false };
  const unitOfWork = inNameOf(OPERATOR, operatorUnitOfWork({ ...database, clock: Date.now }));
  const keptSince = Date.now() - retentionMs;
  const options = { clock: Date.now, keptSince, signal: new AbortController().signal };
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
  await succeeded(sharedIntegration(['backup', backup], settings));
  return { settings, subscription, waiting, backup };
}

test('the printed commands send the deliveries that were pending at the time of the backup', async () => {
  const folder = directory();
  const { settings, subscription, waiting, backup } = await newBackup(folder);
  const into = { ...settings, DATA_DIR: join(folder, 'restored') };
  const report = await succeeded(sharedIntegration(['restore', backup], into));
  expect(report).toMatch(/ the commands that `integration resume` prints$/m);

  const [, days] = /^ {2}1\. Keep .*: set EVENT_RETENTION to (\d+)d or more$/m.exec(report) ?? [];
  expect(Number(days) * 86_400_000).toBeGreaterThan(Date.now() - OCCURRED_AT);
  const kept = { ...into, DATA_DIR: join(folder, 'kept'), EVENT_RETENTION: `${days}d` };
  expect(await succeeded(sharedIntegration(['restore', backup], kept))).not.toContain('EVENT_RETENTION');

  const resumed = await succeeded(sharedIntegration(['resume', subscription], into));
  const sent = await within(into.DATA_DIR, async (database) => {
    expect((await deliveriesIn(database)).get(waiting)).toMatchObject({ status: 'HELD' });
    await replay(database, resumed, Number(days) * 86_400_000);
    return [...(await deliveriesIn(database)).values()];
  });
  expect(sent.map(({ origin, status, subscription_id }) => [origin, status, subscription_id])).toEqual([
    ['EVENT', 'CANCELLED', subscription],
    ['REPLAY', 'PENDING', subscription],
  ]);
});

test('resume names subscriptions of instance integrations that are not configured, and fails', async () => {
  const folder = directory();
  const { settings, subscription, backup } = await newBackup(folder);
  const into = { ...settings, DATA_DIR: join(folder, 'restored') };
  await succeeded(sharedIntegration(['restore', backup], into));
  const connection = await within(into.DATA_DIR, async (database) => {
    await database.write((writer) =>
      writer.updateTable('instance_integrations').set({ configured_at: null }).execute(),
    );
    return database.reader.selectFrom('instance_integrations').select('id').executeTakeFirstOrThrow();
  });
  const { code, stdout, stderr } = await integration(['resume', '--all'], into);
  expect([code, stderr]).toEqual([
    1,
    `Not resumed: ${subscription} (the instance integration ${connection.id} is not configured, or the subscription has just been changed).\n`,
  ]);
  expect(stdout).toContain('tok_');
  expect(stdout).not.toContain(subscription);
});

test('resume that fails midway prints what it has resumed, which it no longer lists', async () => {
  const folder = directory();
  const { settings, backup } = await newBackup(folder);
  const into = { ...settings, DATA_DIR: join(folder, 'restored') };
  await succeeded(sharedIntegration(['restore', backup], into));
  await within(into.DATA_DIR, (database) =>
    plantTrigger(database, 'SQLite', 'before update on subscriptions', "select raise(abort, 'no')"),
  );
  const { code, stdout, stderr } = await integration(['resume', '--all'], into);
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^Resumed: tok_\w+\n$/)]);
  expect(stderr).not.toBe('');
});

/** A backup of a restored database, and a list from after the resumption of its subscription. */
async function newSecondBackup(folder: string) {
  const { settings, subscription, backup } = await newBackup(folder);
  const earlier = { ...settings, DATA_DIR: join(folder, 'earlier') };
  await succeeded(sharedIntegration(['restore', backup], earlier));
  const second = join(folder, 'second');
  await succeeded(sharedIntegration(['backup', second], earlier));
  await succeeded(sharedIntegration(['resume', subscription], earlier));
  const list = join(folder, 'valid-now.jsonl');
  expect(await sharedIntegration(['revocations', list], earlier)).toMatchObject({ code: 0 });
  return { into: { ...settings, DATA_DIR: join(folder, 'restored') }, subscription, backup, second, list };
}

test.each<[string[], (subscription: string) => string]>([
  [[], () => 'the commands that `integration resume` prints'],
  [
    ['--send-webhooks'],
    (subscription) =>
      `integration event replay --subscription ${subscription} --since 2026-02-03T04:05:06.789Z`,
  ],
])(
  'what an earlier restore held is in the next steps of a restore with a list: %j',
  async (options, stepOf) => {
    const { into, subscription, second, list } = await newSecondBackup(directory());
    const report = await succeeded(
      sharedIntegration(['restore', second, '--revocations', list, ...options], into),
    );
    expect(report).toMatch(/^ {2}1\. Keep .*: set EVENT_RETENTION to \d+d or more$/m);
    expect(report.match(/(?<= Send the events .*: +)\S.*$/gm)).toEqual([stepOf(subscription)]);
  },
);

test('what an earlier restore suspended and held is in the report of a restore without a list', async () => {
  const { into, subscription, second } = await newSecondBackup(directory());
  const report = await succeeded(sharedIntegration(['restore', second], into));
  expect(report).toContain('0 deliveries of 0 subscriptions held');
  expect(report).toMatch(/^Notices +0 wait for the platform, /m);
  const [, earlier = ''] = report.split('Still suspended by an earlier restore:');
  expect(earlier).toMatch(/^service_token +tok_/m);
  expect(earlier).toMatch(new RegExp(`^subscription +${subscription} `, 'm'));
  expect(earlier.match(/^ {2}\d\. .*/gm)).toEqual([
    expect.stringMatching(/ Keep .*: set EVENT_RETENTION to \d+d or more$/),
    expect.stringMatching(/ integration resume tok_…$/),
    expect.stringMatching(
      / systemctl start integration-service@serve \(on several machines: @domain; without the unit: integration serve\)$/,
    ),
    expect.stringMatching(/ integration resume whs_…$/),
    expect.stringMatching(/ the commands that `integration resume` prints$/),
  ]);
});

test('no next step sends events to a subscription that the restore has disabled, because it would be refused', async () => {
  const { into, backup, list } = await newSecondBackup(directory());
  const lines = readFileSync(list, 'utf8').split('\n');
  const others = lines.filter((line) => !line.startsWith('["subscriptions"'));
  writeFileSync(list, others.join('\n').replace('"subscriptions":1', '"subscriptions":0'));
  const report = await succeeded(
    sharedIntegration(['restore', backup, '--revocations', list, '--send-webhooks'], into),
  );
  expect(report).toContain('1 subscriptions disabled');
  expect(report).toContain('1 deliveries of disabled subscriptions held');
  expect(report).not.toContain('event replay');
});

/** The report of a restore with these members. */
function reportWith(members: Pick<Report, 'held' | 'heldEarlier'>, options: RestoreOptions = {}): string {
  const report: Report = {
    ...{ restored: '', revocations: '', knownUntil: '', consents: 0, ...members },
    ...{ revoked: [], shortened: [], suspended: [], suspendedEarlier: [], alive: [], notices: 0 },
    ...{ memberships: [], narrowed: [], unconfigured: [], passwords: [] },
    disabled: { applications: [], accounts: [], subscriptions: [] },
    ended: { sessions: 0, grants: 0, codes: 0, links: 0, signingKeys: 0 },
  };
  return reportOf(report, options, CONFIG);
}

test('a report names twenty of very many subscriptions for which an earlier restore held deliveries', () => {
  const heldEarlier = Array.from({ length: 22 }, (_, index) => ({
    ...{ id: `whs_${index + 1}`, since: OCCURRED_AT - index * 1_000 },
  }));
  const held = { subscriptions: [], deliveries: 0, since: OCCURRED_AT };
  const steps = reportWith({ held, heldEarlier }, { sendWebhooks: true }).split('\n').slice(-22);
  expect([steps[0], steps[20], steps[21]]).toEqual([
    expect.stringMatching(/ Start the service: /),
    expect.stringMatching(/ --subscription whs_20 --since 2026-02-03T04:04:47\.789Z$/),
    expect.stringMatching(/ 2 more, .* --subscription whs_… --since 2026-02-03T04:04:45\.789Z$/),
  ]);
});

test('a report says how to keep held deliveries that the purge would remove within a day', () => {
  const stepsOf = (hoursLeft: number) => {
    const since = Date.now() - CONFIG.EVENT_RETENTION + hoursLeft * 3_600_000;
    return reportWith({ held: { subscriptions: ['whs_1'], deliveries: 1, since }, heldEarlier: [] });
  };
  expect(stepsOf(1)).toMatch(/ 1\. Keep what is held until it is sent: set EVENT_RETENTION to 31d or more$/m);
  expect(stepsOf(25)).not.toContain('EVENT_RETENTION');
});
