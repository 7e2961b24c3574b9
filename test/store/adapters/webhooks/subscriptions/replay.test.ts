import { expect, test } from '@jest/globals';
import type { EventId } from '../../../../../generated/ids.js';
import { inNameOf } from '../../../../../src/domain/unit-of-work.js';
import {
  type ReplayProgress,
  type ReplayRequest,
  replayEvents,
} from '../../../../../src/domain/webhooks/subscriptions/replay.js';
import { disableSubscription } from '../../../../../src/domain/webhooks/subscriptions/status.js';
import { auditRows } from '../../../../../src/store/adapters/operator/audit-events.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { OPERATOR, refusal } from '../../operator/rig.js';
import { logRig } from '../logs/rig.js';
import { deliveriesIn, newConnection } from './rig.js';

const never = new AbortController().signal;

describeEachDatabase('a replay', (under) => {
  async function replayRig() {
    const rig = await logRig(under);
    const { unitOfWork, clock, database, subscription } = rig;
    const startedAt = clock.now();
    const replay = (request: Partial<ReplayRequest> = {}, signal = never, keptSince = 0) =>
      replayEvents(
        inNameOf(OPERATOR, unitOfWork),
        {
          subscriptionId: subscription.id,
          since: startedAt,
          eventTypes: [],
          includeDelivered: false,
          ...request,
        },
        { clock: clock.now, keptSince, signal },
      );
    const whole = async (request: Partial<ReplayRequest> = {}, keptSince = 0) => {
      const told: ReplayProgress[] = [];
      for await (const progress of replay(request, never, keptSince)) {
        told.push(progress);
      }
      return told;
    };
    /** The events of the deliveries that replays have made, in the order of the events. */
    const replayed = async () =>
      [...(await deliveriesIn(database)).values()]
        .filter(({ origin }) => origin === 'REPLAY')
        .map(({ event_id }) => event_id as EventId)
        .sort();
    const later = (ms = 1_000) => {
      clock.advance(ms);
      return clock.now();
    };
    return { ...rig, startedAt, replay, whole, replayed, later };
  }

  test('without an end includes what happened before the clock was set back', async () => {
    const rig = await replayRig();
    const before = await rig.event({ occurred_at: rig.later(3_600_000) });
    rig.clock.advance(-1_800_000);
    const after = await rig.event({ occurred_at: rig.clock.now() });
    await rig.whole();
    expect(await rig.replayed()).toEqual([before, after].sort());
  });

  test('makes deliveries of the events in the span that now match the subscription, and wakes senders', async () => {
    const rig = await replayRig();
    const { event, whole, replayed, later, update, subscription, connection, database, clock, woken } = rig;
    await update({
      subscriptionId: subscription.id,
      eventTypes: ['user.*', 'worker.updated'],
      clientIds: [connection.clientId],
    });
    const other = await newConnection(database);
    await event({ occurred_at: rig.startedAt - 1 });
    const wanted = [await event({ occurred_at: rig.startedAt }), await event({ occurred_at: later() })];
    await event({ occurred_at: later(), type: 'worker.onboarded' });
    await event({ occurred_at: later(), client_id: other.clientId });
    await event({ occurred_at: later(), instance_id: other.instanceId });
    await event({ occurred_at: later(), is_test: 1 });
    wanted.push(await event({ occurred_at: later(), type: 'worker.updated' }));
    const until = later();
    const last = await event({ occurred_at: until - 1, type: 'client.created' });
    await event({ occurred_at: until });
    later();

    await expect(whole({ until })).resolves.toEqual([
      { createdDeliveries: 3, lastEventId: last, done: false },
      { createdDeliveries: 3, lastEventId: last, done: true },
    ]);
    await expect(replayed()).resolves.toEqual([...wanted].sort());
    const rows = [...(await deliveriesIn(database)).values()];
    expect(rows).toHaveLength(3);
    for (const row of rows) {
      expect(row).toMatchObject({
        status: 'PENDING',
        attempts_begun: 0,
        created_at: clock.now(),
        ended_at: null,
      });
    }
    expect(woken).toEqual([clock.now()]);
  });

  test('is on record with its first deliveries, whatever becomes of the domain after them', async () => {
    const { event, replayed, later, database, unitOfWork, subscription, startedAt, clock } =
      await replayRig();
    const wanted = await event({ occurred_at: later() });
    later();
    let writes = 0;
    const killed: typeof unitOfWork = {
      ...unitOfWork,
      run: (...given) => {
        writes += 1;
        return writes > 2 ? Promise.reject(new Error('killed')) : unitOfWork.run(...given);
      },
    };
    const request = { subscriptionId: subscription.id, eventTypes: [], includeDelivered: false };
    const replaying = replayEvents(
      inNameOf(OPERATOR, killed),
      { ...request, since: startedAt },
      { clock: clock.now, keptSince: 0, signal: never },
    );
    await replaying.next();
    await expect(replaying.next()).rejects.toThrow('killed');
    await expect(replayed()).resolves.toEqual([wanted]);
    const page = { after: undefined, limit: 10 };
    const records = await auditRows(database.reader).page(page, { types: ['events.*'] });
    expect(records).toMatchObject([
      {
        type: 'events.replay_begun',
        actor: { type: OPERATOR.type, id: OPERATOR.id },
        subject: { type: 'subscription', id: subscription.id },
        attributes: { since: new Date(startedAt).toISOString(), include_delivered: 'false' },
      },
    ]);
  });

  test('is narrowed to types among those that the subscription receives', async () => {
    const { event, whole, replayed, later, update, subscription } = await replayRig();
    await update({ subscriptionId: subscription.id, eventTypes: ['user.*'] });
    await event({ occurred_at: later(), type: 'worker.updated' });
    await event({ occurred_at: later(), type: 'user.updated' });
    const wanted = await event({ occurred_at: later(), type: 'user.created' });
    await whole({ eventTypes: ['user.created', 'worker.*'] });
    await expect(replayed()).resolves.toEqual([wanted]);
  });

  test('leaves out what was delivered or is on its way, and puts an end to what is held', async () => {
    const { event, deliver, whole, replayed, later, database, create } = await replayRig();
    const other = (await create()).subscription;
    const eventWith = async (
      ...statuses: ('DELIVERED' | 'PENDING' | 'HELD' | 'EXHAUSTED' | 'CANCELLED')[]
    ) => {
      const event_id = await event({ occurred_at: later() });
      const ids: string[] = [];
      for (const status of statuses) {
        ids.push(await deliver({ event_id, status }));
      }
      return { event_id, ids };
    };
    const delivered = await eventWith('DELIVERED', 'EXHAUSTED');
    const pending = await eventWith('DELIVERED', 'PENDING');
    const held = await eventWith('HELD', 'EXHAUSTED');
    const exhausted = await eventWith('EXHAUSTED');
    const cancelled = await eventWith('CANCELLED');
    const untold = await eventWith();
    const elsewhere = await event({ occurred_at: later() });
    const heldElsewhere = await deliver({ event_id: elsewhere, status: 'HELD' }, other);

    const missed = [held, exhausted, cancelled, untold].map(({ event_id }) => event_id);
    await whole();
    await expect(replayed()).resolves.toEqual([...missed, elsewhere].sort());
    const rows = await deliveriesIn(database);
    const statusesOf = (ids: string[]) => ids.map((id) => rows.get(id)?.status);
    expect(statusesOf(held.ids)).toEqual(['CANCELLED', 'EXHAUSTED']);
    expect(statusesOf([heldElsewhere])).toEqual(['HELD']);
    expect(statusesOf([...delivered.ids, ...pending.ids])).toEqual([
      'DELIVERED',
      'EXHAUSTED',
      'DELIVERED',
      'PENDING',
    ]);

    await expect(whole()).resolves.toMatchObject([
      { createdDeliveries: 0 },
      { createdDeliveries: 0, done: true },
    ]);
    await expect(whole({ includeDelivered: true })).resolves.toMatchObject([
      { createdDeliveries: 1 },
      { done: true },
    ]);
    await expect(replayed()).resolves.toEqual([...missed, elsewhere, delivered.event_id].sort());
  });

  test('leaves out events from before the retention, which deliveries to others keep', async () => {
    const { event, deliver, create, whole, replayed, later, startedAt } = await replayRig();
    // The delivery that acknowledged it has been purged.
    const old = await event({ occurred_at: startedAt });
    const keptSince = later();
    await deliver({ event_id: old, status: 'DELIVERED' }, (await create()).subscription);
    await expect(whole({ until: keptSince }, keptSince)).resolves.toEqual([
      { createdDeliveries: 0, lastEventId: undefined, done: true },
    ]);
    const kept = await event({ occurred_at: keptSince });
    later();
    await whole({}, keptSince);
    await whole({ afterEventId: old }, keptSince);
    await expect(replayed()).resolves.toEqual([kept]);
  });

  test('goes batch by batch, and from where it was cut off it continues', async () => {
    const { events, replay, whole, replayed, later, startedAt } = await replayRig();
    // Some in one millisecond.
    const ids = await events(450, (index) => ({ occurred_at: startedAt + Math.floor(index / 7) }));
    later();
    const cut = new AbortController();
    const told: ReplayProgress[] = [];
    for await (const progress of replay({}, cut.signal)) {
      told.push(progress);
      cut.abort();
    }
    expect(told).toMatchObject([{ createdDeliveries: 200, done: false }]);
    expect(new Set(await replayed()).size).toBe(200);

    const afterEventId = told[0]?.lastEventId;
    const rest = await whole({ afterEventId });
    expect(rest.map(({ createdDeliveries, done }) => [createdDeliveries, done])).toEqual([
      [200, false],
      [250, false],
      [250, true],
    ]);
    await expect(replayed()).resolves.toEqual([...ids].sort());
  });

  test('is one line of the audit log, with what it made, also when the caller hangs up', async () => {
    const { event, replay, whole, audited, later, startedAt, subscription } = await replayRig();
    const first = await event({ occurred_at: startedAt });
    const until = later();
    await whole({ eventTypes: ['user.*', 'client.created'], until });
    for await (const _ of replay({ includeDelivered: true, afterEventId: first, until })) {
      break;
    }
    await event({ occurred_at: startedAt });
    for await (const _ of replay({ until })) {
      break;
    }
    const lines = (await audited()).filter(({ type }) => type === 'events.replayed');
    const line = {
      ...{ type: 'events.replayed', subject_id: subscription.id },
      ...{ since: new Date(startedAt).toISOString(), until: new Date(until).toISOString() },
      ...{ include_delivered: 'false', created_deliveries: '1', last_event_id: expect.any(String) },
    };
    expect(lines).toHaveLength(3);
    expect(lines).toContainEqual({
      ...line,
      event_types: 'user.* client.created',
      last_event_id: first,
      done: 'true',
    });
    expect(lines).toContainEqual({ ...line, done: 'false' });
  });

  test('stops where the subscription is disabled meanwhile', async () => {
    const { events, replay, replayed, run, subscription, later, audited } = await replayRig();
    await events(250);
    later();
    const told = replay();
    await told.next();
    await run((changes) => disableSubscription(changes, { subscriptionId: subscription.id }));
    await expect(refusal(told.next())).resolves.toMatchObject({ code: 'SUBSCRIPTION_DISABLED' });
    await expect(replayed()).resolves.toHaveLength(200);
    // Disabling may have been in the same millisecond.
    const lines = (await audited()).filter(({ type }) => type === 'events.replayed');
    expect(lines).toMatchObject([{ created_deliveries: '200', done: 'false' }]);
  });

  test('raced by others makes one delivery of each event', async () => {
    const { events, whole, replayed, later } = await replayRig();
    const ids = await events(30);
    later();
    await Promise.all(Array.from({ length: 5 }, () => whole()));
    await expect(replayed()).resolves.toEqual([...ids].sort());
  });

  test.each<[title: string, request: Partial<ReplayRequest>, code: string, paths: string[]]>([
    ['without a beginning', { since: undefined }, 'INVALID_REQUEST', ['since']],
    ['that ends before it begins', { since: 2, until: 2 }, 'INVALID_REQUEST', ['until']],
    ['of types that are none', { eventTypes: ['user.*', 'User'] }, 'INVALID_REQUEST', ['event_types[1]']],
    ['to nobody', { subscriptionId: 'whs_nobody' }, 'SUBSCRIPTION_NOT_FOUND', []],
    ['behind an event that is not there', { afterEventId: 'evt_nothing' }, 'EVENT_NOT_FOUND', []],
  ])('%s is refused', async (_, request, code, paths) => {
    const { whole, audited } = await replayRig();
    await expect(refusal(whole(request))).resolves.toEqual({ code, paths });
    expect((await audited()).filter(({ type }) => type === 'events.replayed')).toEqual([]);
  });
});
