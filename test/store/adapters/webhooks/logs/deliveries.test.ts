import { expect, test } from '@jest/globals';
import { type DeliveryFilter, getDelivery } from '../../../../../src/domain/webhooks/logs/deliveries.js';
import { type LogPage, logPage } from '../../../../../src/domain/webhooks/logs/page.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { refusal } from '../../operator/rig.js';
import { newConnection } from '../subscriptions/rig.js';
import { logRig } from './rig.js';

const ALL: DeliveryFilter = { eventTypes: [], statuses: [] };

describeEachDatabase('the list of deliveries', (under) => {
  /** Two subscriptions of one connection and one of another, each with some deliveries, one second apart. */
  async function rigWithHistory() {
    const rig = await logRig(under);
    const startedAt = rig.clock.now();
    const second = (await rig.create()).subscription;
    const other = await newConnection(rig.database);
    const foreign = (await rig.create({ instanceIntegrationId: other.id })).subscription;
    const deliver: typeof rig.deliver = async (row, to) => {
      rig.clock.advance(1_000);
      return rig.deliver(row, to);
    };
    const ids = [
      await deliver({ status: 'DELIVERED' }),
      await deliver({ event_type: 'worker.updated' }, second),
      await deliver({ event_type: 'user.created', status: 'EXHAUSTED' }),
      await deliver({ status: 'DELIVERED' }, foreign),
      await deliver({ event_type: 'organization_unit.created', status: 'HELD' }, second),
      await deliver({ event_type: 'organization_unit_type.created' }),
    ];
    /** By their place in the history. */
    const listed = async (filter: Partial<DeliveryFilter>, limit = 50) => {
      const page = { after: undefined, limit };
      const { rows } = await rig.rows.deliveryLog.page(page, { ...ALL, ...filter });
      return rows.map(({ id }) => ids.indexOf(id));
    };
    return { ...rig, startedAt, second, foreign, ids, listed };
  }

  test('is newest first, and narrowed by subscription, connection, event, type, status and time', async () => {
    const { listed, subscription, second, foreign, startedAt, rows, ids } = await rigWithHistory();
    const event = await rows.deliveryLog.find(ids[2] as string);
    const subscriptionId = subscription.id;
    const instanceIntegrationId = subscription.instanceIntegrationId;
    const cases: [filter: Partial<DeliveryFilter>, places: number[]][] = [
      [{}, [5, 4, 3, 2, 1, 0]],
      [{ subscriptionId }, [5, 2, 0]],
      [{ subscriptionId: 'whs_nobody' }, []],
      [{ instanceIntegrationId }, [5, 4, 2, 1, 0]],
      [{ instanceIntegrationId, subscriptionId: second.id }, [4, 1]],
      [{ instanceIntegrationId, subscriptionId: foreign.id }, []],
      [{ eventId: event?.eventId }, [2]],
      [{ eventId: event?.eventId, subscriptionId: second.id }, []],
      [{ eventId: event?.eventId, instanceIntegrationId: foreign.instanceIntegrationId }, []],
      [{ eventTypes: ['user.updated'] }, [3, 0]],
      [{ eventTypes: ['user.*'] }, [3, 2, 0]],
      [{ eventTypes: ['user.*', 'worker.updated'] }, [3, 2, 1, 0]],
      [{ eventTypes: ['organization_unit.*'] }, [4]],
      [{ eventTypes: ['organization.unit.*'] }, []],
      [{ eventTypes: ['*'] }, [5, 4, 3, 2, 1, 0]],
      [{ statuses: ['HELD', 'EXHAUSTED'] }, [4, 2]],
      [{ since: startedAt + 4_000 }, [5, 4, 3]],
      [{ until: startedAt + 4_000 }, [2, 1, 0]],
      [{ since: startedAt + 2_000, until: startedAt + 5_000, instanceIntegrationId }, [2, 1]],
      [{ since: -1, until: 253_402_300_799_999 }, [5, 4, 3, 2, 1, 0]],
      [{ since: 253_402_300_799_999 }, []],
    ];
    for (const [filter, places] of cases) {
      expect({ filter, places: await listed(filter) }).toEqual({ filter, places });
    }
  });

  test.each([1, 2, 3, 5, 6])('comes in pages of %s, each behind the one before it', async (pageSize) => {
    const { rows, ids, subscription, second } = await rigWithHistory();
    const { instanceIntegrationId } = subscription;
    const filters: [Partial<DeliveryFilter>, number[]][] = [
      [{}, [5, 4, 3, 2, 1, 0]],
      [{ instanceIntegrationId }, [5, 4, 2, 1, 0]],
      [{ subscriptionId: second.id }, [4, 1]],
      [{ statuses: ['DELIVERED'] }, [3, 0]],
    ];
    for (const [filter, places] of filters) {
      const found: number[] = [];
      let pageToken = '';
      do {
        const page = await logPage({ pageSize, pageToken }, (request) =>
          rows.deliveryLog.page(request, { ...ALL, ...filter }),
        );
        expect(page.rows.length).toBeLessThanOrEqual(pageSize);
        found.push(...page.rows.map(({ id }) => ids.indexOf(id)));
        pageToken = page.nextPageToken;
      } while (pageToken !== '');
      expect(found).toEqual(places);
    }
  });

  test('pages an event that went to many', async () => {
    const { rows, event, deliver } = await logRig(under);
    const eventId = await event();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      ids.push(await deliver({ event_id: eventId }));
    }
    const found: string[] = [];
    let after: LogPage<unknown>['next'];
    do {
      const page = await rows.deliveryLog.page({ after, limit: 2 }, { ...ALL, eventId });
      found.push(...page.rows.map(({ id }) => id));
      after = page.next;
    } while (after);
    expect(found).toEqual(ids.reverse());
  });

  test('keeps the deliveries to subscriptions that were deleted', async () => {
    const { run, subscription, clock, listed } = await rigWithHistory();
    await run(({ subscriptions }) => subscriptions.delete(subscription.id, clock.now()));
    const { instanceIntegrationId } = subscription;
    await expect(listed({ instanceIntegrationId })).resolves.toEqual([5, 4, 2, 1, 0]);
  });
});

describeEachDatabase('one delivery', (under) => {
  test('is shown with its attempts, the one that runs included, and the body as its receiver gets it', async () => {
    const { rows, deliver, attempt, clock, subscription } = await logRig(under);
    const startedAt = clock.now();
    const lease = { attempts_begun: 2, attempt_started_at: startedAt + 90, lease_until: startedAt + 30_000 };
    const id = await deliver(lease);
    const answer = Buffer.from([0, 255, 10]);
    await attempt(id, { response_start: answer.toString('base64') });

    const { delivery, attempts, body } = await getDelivery(rows, id);
    expect(delivery).toMatchObject({ id, status: 'PENDING', attemptsBegun: 2 });
    expect(attempts).toEqual([
      {
        number: 1,
        startedAt: startedAt - 12,
        endedAt: startedAt,
        outcome: 'STATUS_REFUSED',
        durationMs: 12,
        httpStatus: 500,
        message: 'The receiver answered 500.',
        responseStart: answer,
      },
      { number: 2, startedAt: startedAt + 90, outcome: null },
    ]);
    expect(JSON.parse(body)).toMatchObject({
      id: delivery.eventId,
      type: 'user.updated',
      data: {
        links: { self: `/v1/instance-integrations/${subscription.instanceIntegrationId}/clients/cli_1` },
      },
    });
  });

  test('does not show an attempt as running that has just ended', async () => {
    const { rows, deliver, attempt } = await logRig(under);
    const id = await deliver({ attempts_begun: 1, attempt_started_at: 5, lease_until: 6 });
    await attempt(id);
    const { attempts } = await getDelivery(rows, id);
    expect(attempts).toMatchObject([{ number: 1, outcome: 'STATUS_REFUSED' }]);
  });

  test('that does not exist is not found', async () => {
    const { rows } = await logRig(under);
    const code = 'DELIVERY_NOT_FOUND';
    await expect(refusal(getDelivery(rows, 'whd_nothing'))).resolves.toMatchObject({ code });
  });
});
