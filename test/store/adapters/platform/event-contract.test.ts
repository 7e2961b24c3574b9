import { expect, test } from '@jest/globals';
import type { EventType } from '../../../../generated/asyncapi/events.js';
import type { ClientId, InstanceId, UserId } from '../../../../generated/ids.js';
import type { RecordedEvent } from '../../../../src/domain/platform/unit-of-work.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { signOnUnitOfWork } from '../../../../src/store/adapters/sign-on/unit-of-work.js';
import type { OnInvalidEvent } from '../../../../src/store/adapters/webhooks/event-recorder.js';
import type { Database } from '../../../../src/store/database.js';
import { describeEachDatabase } from '../../../support/databases.js';

const ID = 'usr_HCZONjGb2Vig7IXUdMsJi5' as UserId;

const incomplete = {
  type: 'user.updated',
  instanceId: 'ins_3p6PT9wVyh5HYgpDAJEJd8' as InstanceId,
  clientId: 'cli_4Fqnh5226raKAAEIfY2jwW' as ClientId,
  entity: { type: 'user', id: ID },
  data: { userId: ID, links: { self: '/' } },
} as unknown as RecordedEvent<'user.updated'>;

const unitsOfWork = {
  platform: (database: Database, listener?: OnInvalidEvent) =>
    platformUnitOfWork(database, undefined, listener),
  'sign-on': (database: Database, listener?: OnInvalidEvent) =>
    signOnUnitOfWork(database, undefined, listener),
};

describeEachDatabase('an event that violates the contract', (under) => {
  const eventsIn = async ({ reader }: Database) =>
    (await reader.selectFrom('events').select('type').execute()).map(({ type }) => type);

  test.each(Object.entries(unitsOfWork))('fails the whole write of %s', async (_, unitOfWork) => {
    const database = await under.openMigrated();
    const write = unitOfWork(database).run(async (changes) => {
      await changes.touch('cli_1');
      await changes.recordEvent(incomplete);
    });
    await expect(write).rejects.toThrow(
      "The event user.updated violates its contract: /data must have required property 'clientId'",
    );
    expect(await eventsIn(database)).toEqual([]);
    expect(await database.reader.selectFrom('data_versions').selectAll().execute()).toEqual([]);
  });

  test.each(Object.entries(unitsOfWork))(
    'is recorded and told where %s has a listener',
    async (_, unitOfWork) => {
      const database = await under.openMigrated();
      const told: [EventType, string][] = [];
      await unitOfWork(database, (...fault) => told.push(fault)).run((changes) =>
        changes.recordEvent(incomplete),
      );
      expect(await eventsIn(database)).toEqual(['user.updated']);
      expect(told).toEqual([['user.updated', "/data must have required property 'clientId'"]]);
    },
  );
});
