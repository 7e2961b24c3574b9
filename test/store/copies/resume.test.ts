import { expect, test } from '@jest/globals';
import { settleCopy } from '../../../src/store/copies/settle-copy.js';
import { type Resumed, resume, type Suspended, suspendedIn } from '../../../src/store/copies/suspended.js';
import type { Writer } from '../../../src/store/database.js';
import { databaseUnderTest } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { connectionsWaiting } from '../../support/postgres/waiting-connections.js';
import { plantSubscription } from '../adapters/webhooks/sending/rig.js';
import { newConnection, plantDelivery } from '../adapters/webhooks/subscriptions/rig.js';

const NOW = 1_790_000_500_000;
const postgres = databaseUnderTest('PostgreSQL');

test('resume waits for a write of an event for the disabled subscription, and returns its time', async () => {
  const database = await postgres.openMigrated();
  const { id, instanceId } = await newConnection(database);
  const connection = { instance_integration_id: id, instance_id: instanceId };
  const receiver = { id: await plantSubscription(database, connection), instanceId };
  await settleCopy(database, {
    ...{
      at: NOW,
      valid: undefined,
      attributes: {},
      keepSessions: false,
      keepKeys: false,
      sendWebhooks: false,
    },
  });
  const [suspended] = (await suspendedIn(database.reader)) as [Suspended];

  let resuming: Promise<Resumed | undefined> | undefined;
  let isOver = false;
  await database.write(async (writer) => {
    // As the recorder of events does.
    const locked = writer.selectFrom('subscriptions').where('id', '=', receiver.id).forKeyShare();
    expect(await locked.select('status').execute()).toEqual([{ status: 'DISABLED' }]);
    const inThisWrite = { write: (work: (writer: Writer) => unknown) => work(writer) };
    await plantDelivery(inThisWrite as never, receiver as never, { status: 'HELD' }, NOW + 5);
    const by = { actor: { type: 'command', id: 'resume' }, at: NOW + 10 };
    resuming = resume(database, suspended, by).finally(() => {
      isOver = true;
    });
    await eventually('it waits, or is over', async () => isOver || (await connectionsWaiting(database)) > 0);
  });
  expect(await resuming).toMatchObject({ id: receiver.id, heldSince: NOW + 5 });
});
