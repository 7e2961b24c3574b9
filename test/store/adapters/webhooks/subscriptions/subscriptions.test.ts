import { expect, test } from '@jest/globals';
import {
  getSubscription,
  type ManagedSubscription,
} from '../../../../../src/domain/webhooks/subscriptions/rows.js';
import { MAX_SUBSCRIPTIONS } from '../../../../../src/domain/webhooks/subscriptions/rules.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { plantClient } from '../../../directory-rows.js';
import { refusal } from '../../operator/rig.js';
import { newConnection, subscriptionRig } from './rig.js';

describeEachDatabase('subscriptions', (under) => {
  test('a subscription is created active, with one secret, and its line in the audit log tells no more than where events go', async () => {
    const { create, rows, clock, connection, audited } = await subscriptionRig(under);
    const { subscription } = await create({
      url: 'HTTPS://hooks.example.com:443/in?token=abc',
      eventTypes: ['user.*', 'worker.updated'],
      clientIds: [connection.clientId],
      description: ' Payroll ',
    });

    expect(subscription).toMatchObject({
      instanceIntegrationId: connection.id,
      instanceId: connection.instanceId,
      url: 'https://hooks.example.com/in?token=abc',
      eventTypes: ['user.*', 'worker.updated'],
      clientIds: [connection.clientId],
      description: 'Payroll',
      status: 'ACTIVE',
      disabledReason: null,
      failingSince: null,
      lastSuccessAt: null,
      createdAt: clock.now(),
      updatedAt: clock.now(),
      secrets: [{ id: expect.stringMatching(/^sec_/), createdAt: clock.now(), expiresAt: null }],
    });
    expect(subscription.id).toMatch(/^whs_\w{22}$/);
    await expect(rows.subscriptions.find(subscription.id)).resolves.toEqual(subscription);
    await expect(audited()).resolves.toEqual([
      {
        type: 'subscription.created',
        subject_id: subscription.id,
        instance_integration_id: connection.id,
        url_origin: 'https://hooks.example.com',
      },
    ]);
  });

  test('a subscription of a missing connection or client, or of an unconfigured connection, is refused and not stored', async () => {
    const { create, database, connection, audited } = await subscriptionRig(under);
    const unconfigured = await newConnection(database, { configured_at: null });
    const stranger = await plantClient(database);
    const refusals = [
      create({ instanceIntegrationId: 'iin_missing' }),
      create({ instanceIntegrationId: unconfigured.id }),
      create({ clientIds: ['cli_missing', connection.clientId, stranger.id] }),
    ].map(refusal);

    await expect(Promise.all(refusals)).resolves.toEqual([
      { code: 'INSTANCE_INTEGRATION_NOT_FOUND', paths: [] },
      { code: 'INSTANCE_INTEGRATION_NOT_CONFIGURED', paths: [] },
      { code: 'CLIENT_NOT_FOUND', paths: ['client_ids[0]', 'client_ids[2]'] },
    ]);
    await expect(database.reader.selectFrom('subscriptions').selectAll().execute()).resolves.toEqual([]);
    await expect(audited()).resolves.toEqual([]);
  });

  test('an instance integration has so many subscriptions at most, and those that were deleted do not count', async () => {
    const { create, database, connection, rows, run } = await subscriptionRig(under);
    const { subscription } = await create();
    await run(async (changes) => {
      for (let made = 1; made < MAX_SUBSCRIPTIONS; made += 1) {
        const id =
          `${subscription.id.slice(0, -4)}${String(made).padStart(4, '0')}` as typeof subscription.id;
        await changes.subscriptions.insert({ ...subscription, id });
      }
    });
    await expect(rows.subscriptions.countOf(connection.id)).resolves.toBe(MAX_SUBSCRIPTIONS);
    await expect(refusal(create())).resolves.toMatchObject({ code: 'TRANSITION_REFUSED' });
    const other = await newConnection(database);
    await expect(create({ instanceIntegrationId: other.id })).resolves.toBeDefined();
    await run((changes) => changes.subscriptions.delete(subscription.id, 1));
    await expect(create()).resolves.toBeDefined();
  });

  test('an update writes what it names, and tells where events go from now on', async () => {
    const { create, update, rows, clock, connection, audited } = await subscriptionRig(under);
    const { subscription: made } = await create({ clientIds: [connection.clientId], description: 'old' });
    clock.advance(5);
    const moved = await update({ subscriptionId: made.id, url: 'https://new.example.com/x' });
    clock.advance(5);
    const cleared = await update({
      subscriptionId: made.id,
      eventTypes: ['user.*'],
      updateMask: ['event_types', 'client_ids', 'description'],
      expectedVersion: moved.version,
    });

    expect(moved).toEqual({
      ...made,
      url: 'https://new.example.com/x',
      version: moved.version,
      updatedAt: made.createdAt + 5,
    });
    expect(cleared).toMatchObject({ url: moved.url, eventTypes: ['user.*'], clientIds: [], description: '' });
    expect(new Set([made, moved, cleared].map(({ version }) => version)).size).toBe(3);
    await expect(getSubscription(rows, made.id)).resolves.toEqual(cleared);
    expect((await audited()).slice(1)).toEqual([
      {
        type: 'subscription.updated',
        subject_id: made.id,
        fields: 'url',
        url_origin: 'https://new.example.com',
      },
      { type: 'subscription.updated', subject_id: made.id, fields: 'client_ids description event_types' },
    ]);
  });

  test('a new address begins without the failures of the old one; the same address keeps them', async () => {
    const { create, update, run } = await subscriptionRig(under);
    const { subscription } = await create();
    await run((changes) =>
      changes.subscriptions.update({ ...subscription, failingSince: 17, lastSuccessAt: 5 }),
    );
    const { id: subscriptionId, url } = subscription;
    const same = await update({ subscriptionId, url, description: 'x' });
    expect(same).toMatchObject({ failingSince: 17, lastSuccessAt: 5 });
    const moved = await update({ subscriptionId, url: 'https://new.example.com/' });
    expect(moved).toMatchObject({ failingSince: null, lastSuccessAt: 5 });
  });

  test('an update that changes nothing leaves no trace', async () => {
    const { create, update, audited, clock } = await subscriptionRig(under);
    const { subscription } = await create({ description: 'Payroll' });
    clock.advance(5);
    const { id: subscriptionId, url } = subscription;
    const again = await update({ subscriptionId, url, eventTypes: ['*'], description: ' Payroll' });
    expect(again).toEqual(subscription);
    expect(await audited()).toHaveLength(1);
  });

  test.each([
    ['an unknown one', { subscriptionId: 'whs_unknown', description: 'x' }, 'SUBSCRIPTION_NOT_FOUND', []],
    ['an address that is none', { url: 'ftp://x' }, 'INVALID_REQUEST', ['url']],
    ['no address', { updateMask: ['url'] }, 'INVALID_REQUEST', ['url']],
    ['no events', { updateMask: ['event_types'] }, 'INVALID_REQUEST', ['event_types']],
    ['a mask that names nothing', { updateMask: ['status'] }, 'INVALID_REQUEST', ['update_mask']],
    ['another version', { description: 'x', expectedVersion: 'old' }, 'VERSION_CONFLICT', []],
    ['an unknown client', { clientIds: ['cli_missing'] }, 'CLIENT_NOT_FOUND', ['client_ids[0]']],
  ])('an update with %s is refused and leaves no trace', async (_, fields, code, paths) => {
    const { create, update, rows, audited } = await subscriptionRig(under);
    const { subscription } = await create();
    await expect(refusal(update({ subscriptionId: subscription.id, ...fields }))).resolves.toEqual({
      code,
      paths,
    });
    await expect(getSubscription(rows, subscription.id)).resolves.toEqual(subscription);
    expect(await audited()).toHaveLength(1);
  });

  test('pages are newest first, of one instance integration and one state if asked for, without what was deleted', async () => {
    const { create, rows, run, database, clock } = await subscriptionRig(under);
    const other = await newConnection(database);
    const made: ManagedSubscription[] = [];
    for (const creation of [{}, { instanceIntegrationId: other.id }, {}, {}]) {
      made.push((await create(creation)).subscription);
      clock.advance(1);
    }
    const [oldest, foreign, disabled, deleted] = made.map(({ id }) => id);
    const [, , third, fourth] = made;
    await run(async ({ subscriptions }) => {
      await subscriptions.update({ ...(third as ManagedSubscription), status: 'DISABLED' });
      await subscriptions.delete((fourth as ManagedSubscription).id, 1);
    });
    const page = async (filter: Parameters<typeof rows.subscriptions.page>[1], limit = 10) =>
      (await rows.subscriptions.page({ after: undefined, limit }, filter)).map(({ id }) => id);

    await expect(page({})).resolves.toEqual([disabled, foreign, oldest]);
    await expect(page({}, 2)).resolves.toEqual([disabled, foreign]);
    await expect(page({ instanceIntegrationId: other.id })).resolves.toEqual([foreign]);
    await expect(page({ status: 'ACTIVE' })).resolves.toEqual([foreign, oldest]);
    await expect(page({ status: 'DISABLED' })).resolves.toEqual([disabled]);
    await expect(rows.subscriptions.page({ after: made[1], limit: 10 }, {})).resolves.toMatchObject([
      { id: oldest },
    ]);
    await expect(refusal(getSubscription(rows, deleted as string))).resolves.toMatchObject({
      code: 'SUBSCRIPTION_NOT_FOUND',
    });
  });
});
