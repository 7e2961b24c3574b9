import { expect, test } from '@jest/globals';
import { type EventFilter, getEvent } from '../../../../../src/domain/webhooks/logs/events.js';
import { logPage } from '../../../../../src/domain/webhooks/logs/page.js';
import { newPublicId } from '../../../../../src/identifiers/public-id.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { refusal } from '../../operator/rig.js';
import { newConnection } from '../subscriptions/rig.js';
import { logRig } from './rig.js';

describeEachDatabase('the list of events', (under) => {
  /** The first two in one millisecond, with ids in the other order; the others a second apart. */
  async function rigWithHistory() {
    const rig = await logRig(under);
    const startedAt = rig.clock.now();
    const other = await newConnection(rig.database);
    const later = () => {
      rig.clock.advance(1_000);
      return rig.clock.now();
    };
    const ids = [
      await rig.event({ id: 'evt_zzz' }),
      await rig.event({ id: 'evt_aaa', type: 'user.created' }),
      await rig.event({
        occurred_at: later(),
        entity_type: 'worker',
        type: 'worker.updated',
        entity_id: 'wrk_1',
      }),
      await rig.event({ occurred_at: later(), instance_id: other.instanceId, client_id: other.clientId }),
      await rig.event({ occurred_at: later(), is_test: 1 }),
      await rig.event({ occurred_at: later(), type: 'worker.onboarded', client_id: 'cli_2' }),
    ];
    return { ...rig, startedAt, other, ids };
  }

  test('is newest first without test events, and narrowed by type, instance, client, entity and time', async () => {
    const { rows, ids, connection, other, startedAt } = await rigWithHistory();
    const cases: [filter: Partial<EventFilter>, places: number[]][] = [
      [{}, [5, 3, 2, 1, 0]],
      [{ eventTypes: ['worker.*'] }, [5, 2]],
      [{ eventTypes: ['user.created', 'worker.updated'] }, [2, 1]],
      [{ instanceId: connection.instanceId }, [5, 2, 1, 0]],
      [{ instanceId: other.instanceId }, [3]],
      [{ clientId: connection.clientId }, [2, 1, 0]],
      [{ clientId: connection.clientId, eventTypes: ['user.*'] }, [1, 0]],
      [{ entityId: 'wrk_1' }, [2]],
      [{ since: startedAt + 1_000 }, [5, 3, 2]],
      [{ until: startedAt + 1_000 }, [1, 0]],
      [{ since: startedAt + 1, until: startedAt + 2_000, clientId: connection.clientId }, [2]],
    ];
    for (const [filter, places] of cases) {
      const page = { after: undefined, limit: 50 };
      const found = await rows.eventLog.page(page, { eventTypes: [], ...filter });
      expect({ filter, places: found.rows.map(({ id }) => ids.indexOf(id)) }).toEqual({ filter, places });
    }
  });

  test.each([1, 2, 3])('comes in pages of %s, also between two of one millisecond', async (pageSize) => {
    const { rows, ids, connection } = await rigWithHistory();
    for (const [clientId, places] of [
      [undefined, [5, 3, 2, 1, 0]],
      [connection.clientId, [2, 1, 0]],
    ] as const) {
      const found: number[] = [];
      let pageToken = '';
      do {
        const page = await logPage({ pageSize, pageToken }, (request) =>
          rows.eventLog.page(request, { eventTypes: [], clientId }),
        );
        found.push(...page.rows.map(({ id }) => ids.indexOf(id)));
        pageToken = page.nextPageToken;
      } while (pageToken !== '');
      expect(found).toEqual(places);
    }
  });
});

describeEachDatabase('one event', (under) => {
  test('is shown as a receiver gets it, or without links', async () => {
    const { rows, event, connection } = await logRig(under);
    const data = '{"name":"{instanceIntegrationId}","links":{"self":"/v1/{instanceIntegrationId}/x"}}';
    const id = await event({ data });
    const received = await getEvent(rows, id, connection.id);
    expect(received.event).toMatchObject({ id, clientId: connection.clientId, type: 'user.updated' });
    expect(JSON.parse(received.body)).toMatchObject({
      ...{ id, type: 'user.updated', specVersion: 1, dataVersion: 1 },
      data: { name: '{instanceIntegrationId}', links: { self: `/v1/${connection.id}/x` } },
    });
    const { data: shown, ...envelope } = JSON.parse((await getEvent(rows, id, undefined)).body);
    expect(shown).toEqual({ name: '{instanceIntegrationId}' });
    expect(envelope).toMatchObject({ id, entity: { type: 'user' } });
  });

  test('that an operator made up is shown too', async () => {
    const { rows, event } = await logRig(under);
    const id = await event({ is_test: 1 });
    await expect(getEvent(rows, id, undefined)).resolves.toMatchObject({ event: { id } });
  });

  test("is shown without a receiver's link", async () => {
    const { rows, event, database } = await logRig(under);
    const id = await event();
    const code = 'INSTANCE_INTEGRATION_NOT_FOUND';
    const other = await newConnection(database);
    for (const receiver of [other.id, newPublicId('InstanceIntegrationId')]) {
      await expect(refusal(getEvent(rows, id, receiver))).resolves.toMatchObject({ code });
    }
  });

  test('that does not exist is not found', async () => {
    const { rows } = await logRig(under);
    const code = 'EVENT_NOT_FOUND';
    await expect(refusal(getEvent(rows, 'evt_nothing', undefined))).resolves.toMatchObject({ code });
  });
});
