import { expect, test } from '@jest/globals';
import {
  connectInstance,
  disconnectInstance,
  writeConfiguration,
} from '../../../../src/domain/operator/instance-integrations.js';
import { createIntegration, updateIntegration } from '../../../../src/domain/operator/integrations.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { dataVersion, everythingIn, operatorRig, refusal } from './rig.js';

describeEachDatabase('integrations', (under) => {
  test('an integration is created with a version of its row and one of its data', async () => {
    const { database, run, rows, clock, audited } = await operatorRig(under);
    const made = await run((changes) => createIntegration(changes, { name: '  Brightledger ' }));

    expect(made).toMatchObject({ name: 'Brightledger', createdAt: clock.now(), updatedAt: clock.now() });
    expect(made.id).toMatch(/^itg_\w{22}$/);
    await expect(rows.integrations.find(made.id)).resolves.toEqual(made);
    await expect(dataVersion(database, made.id)).resolves.toMatch(/^[\w-]{20}$/);
    await expect(audited()).resolves.toEqual(['integration.created']);
  });

  test('a new name changes both versions, and is in the audit log', async () => {
    const { database, run, newIntegration, clock, audited } = await operatorRig(under);
    const made = await newIntegration();
    const before = await dataVersion(database, made.id);
    clock.advance(5);
    const changed = await run((changes) =>
      updateIntegration(changes, { integrationId: made.id, name: 'Bright', expectedVersion: made.version }),
    );

    expect(changed).toMatchObject({ name: 'Bright', updatedAt: clock.now() });
    expect(changed.version).not.toBe(made.version);
    await expect(dataVersion(database, made.id)).resolves.not.toBe(before);
    await expect(audited()).resolves.toEqual(['integration.created', 'integration.updated']);
  });

  test('the contact is changed without the name, and cleared by the mask', async () => {
    const { run } = await operatorRig(under);
    const contactEmail = 'webhooks@example.com';
    const made = await run((changes) => createIntegration(changes, { name: 'Brightledger', contactEmail }));
    expect(made).toMatchObject({ contactEmail });
    const update = (fields: object) =>
      run((changes) => updateIntegration(changes, { integrationId: made.id, ...fields }));
    const changed = await update({ contactEmail: ' ops@example.com ', updateMask: ['contact_email'] });
    expect(changed).toMatchObject({ name: 'Brightledger', contactEmail: 'ops@example.com' });
    await expect(update({ name: 'Bright' })).resolves.toMatchObject({ contactEmail: 'ops@example.com' });
    await expect(update({ updateMask: ['contact_email'] })).resolves.toMatchObject({ contactEmail: null });
  });

  test.each([
    [' ops@example.com ', 'ops@example.com'],
    ['  ', null],
  ])('the contact %j of a new integration is stored as %j', async (given, contactEmail) => {
    const { run } = await operatorRig(under);
    const creation = { name: 'Brightledger', contactEmail: given };
    await expect(run((changes) => createIntegration(changes, creation))).resolves.toMatchObject({
      contactEmail,
    });
  });

  test('a change that changes nothing leaves no trace', async () => {
    const { database, run, newIntegration } = await operatorRig(under);
    const made = await newIntegration();
    const before = await everythingIn(database);
    await run((changes) => updateIntegration(changes, { integrationId: made.id, name: made.name }));
    await expect(everythingIn(database)).resolves.toBe(before);
  });

  test.each([
    ['an unknown one', { integrationId: 'itg_unknown', name: 'x' }, 'INTEGRATION_NOT_FOUND', []],
    ['an empty name', { name: ' ' }, 'INVALID_REQUEST', ['name']],
    ['a name of control characters', { name: 'a\nb' }, 'INVALID_REQUEST', ['name']],
    ['a name cleared by the mask', { updateMask: ['name'] }, 'INVALID_REQUEST', ['name']],
    ['a contact that is no address', { contactEmail: 'ops' }, 'INVALID_REQUEST', ['contact_email']],
    ['a mask that names nothing', { updateMask: ['nope'] }, 'INVALID_REQUEST', ['update_mask']],
    ['another version', { name: 'x', expectedVersion: 'old' }, 'VERSION_CONFLICT', []],
  ])('an update with %s is refused and leaves no trace', async (_, update, code, paths) => {
    const { database, run, newIntegration } = await operatorRig(under);
    const { id } = await newIntegration();
    const before = await everythingIn(database);
    await expect(
      refusal(run((changes) => updateIntegration(changes, { integrationId: id, ...update }))),
    ).resolves.toEqual({ code, paths });
    await expect(everythingIn(database)).resolves.toBe(before);
  });

  test('pages are newest first, and each begins where the last one ended', async () => {
    const { rows, newIntegration, clock } = await operatorRig(under);
    const made: string[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      made.unshift((await newIntegration(name)).id);
      clock.advance(name === 'b' ? 0 : 1);
    }
    const seen: string[] = [];
    let after: { createdAt: number; id: string } | undefined;
    do {
      const page = await rows.integrations.page({ after, limit: 2 });
      seen.push(...page.map(({ id }) => id));
      after = page.at(-1);
    } while (after);
    expect([...seen].sort()).toEqual([...made].sort());
    expect([seen[0], seen[1], seen[4]]).toEqual([made[0], made[1], made[4]]);
  });
});

describeEachDatabase('connections', (under) => {
  async function connected() {
    const rig = await operatorRig(under);
    const { id: integrationId } = await rig.newIntegration();
    const instanceId = await rig.newInstance();
    const connection = await rig.run((changes) => connectInstance(changes, { integrationId, instanceId }));
    const versions = async () => [
      await dataVersion(rig.database, integrationId),
      await dataVersion(rig.database, instanceId),
    ];
    return { ...rig, integrationId, instanceId, connection, versions };
  }

  test('a connection begins unconfigured, and names its instance', async () => {
    const { connection, rows, instanceId, integrationId } = await connected();
    expect(connection).toMatchObject({
      integrationId,
      instanceId,
      instanceName: 'Harborlight',
      configuredAt: null,
    });
    await expect(rows.instanceIntegrations.find(connection.id)).resolves.toEqual(connection);
  });

  test('connecting the same two again is refused, and names the connection', async () => {
    const { run, integrationId, instanceId, connection } = await connected();
    const again = run((changes) => connectInstance(changes, { integrationId, instanceId }));
    await expect(again).rejects.toMatchObject({
      fieldViolations: [{ path: 'instance_id', message: `is connected by ${connection.id}` }],
    });
  });

  test.each([
    ['integration', { integrationId: 'itg_unknown' }, 'INTEGRATION_NOT_FOUND', []],
    ['instance', { instanceId: 'ins_unknown' }, 'INSTANCE_NOT_FOUND', ['instance_id']],
  ])('an unknown %s cannot be connected', async (_, wrong, code, paths) => {
    const { run, integrationId, instanceId } = await connected();
    const creation = { integrationId, instanceId, ...wrong };
    await expect(refusal(run((changes) => connectInstance(changes, creation)))).resolves.toEqual({
      code,
      paths,
    });
  });

  test('configuring it and taking that back changes what integration and instance answer', async () => {
    const { run, connection, versions, audited } = await connected();
    const seen = [await versions()];
    for (const configured of [true, false]) {
      const changed = await run((changes) => writeConfiguration(changes, { id: connection.id, configured }));
      expect(changed.configuredAt !== null).toBe(configured);
      seen.push(await versions());
    }
    expect(new Set(seen.flat()).size).toBe(6);
    await expect(audited()).resolves.toEqual(
      expect.arrayContaining(['instance_integration.configured', 'instance_integration.unconfigured']),
    );
  });

  test('configuring a configured connection changes and records nothing', async () => {
    const { database, run, connection } = await connected();
    await run((changes) => writeConfiguration(changes, { id: connection.id, configured: true }));
    const before = await everythingIn(database);
    await run((changes) => writeConfiguration(changes, { id: connection.id, configured: true }));
    await expect(everythingIn(database)).resolves.toBe(before);
  });

  test('a disconnected one is gone, and may be made again under another id', async () => {
    const { run, rows, connection, integrationId, instanceId, versions } = await connected();
    const before = await versions();
    await run((changes) => disconnectInstance(changes, connection.id));
    await expect(rows.instanceIntegrations.find(connection.id)).resolves.toBeUndefined();
    expect(await versions()).not.toEqual(before);
    const again = await run((changes) => connectInstance(changes, { integrationId, instanceId }));
    expect(again.id).not.toBe(connection.id);
    await expect(
      refusal(run((changes) => disconnectInstance(changes, connection.id))),
    ).resolves.toMatchObject({ code: 'INSTANCE_INTEGRATION_NOT_FOUND' });
  });

  test('a list is of one integration, of one instance, or of those that stand alike', async () => {
    const { run, rows, integrationId, instanceId, connection, newInstance } = await connected();
    const other = await newInstance('Juniper');
    const second = await run((changes) => connectInstance(changes, { integrationId, instanceId: other }));
    await run((changes) => writeConfiguration(changes, { id: second.id, configured: true }));
    const idsOf = async (filter: object) =>
      (await rows.instanceIntegrations.page({ after: undefined, limit: 10 }, filter))
        .map(({ id }) => id)
        .sort();

    await expect(idsOf({ integrationId })).resolves.toEqual([connection.id, second.id].sort());
    await expect(idsOf({ instanceId })).resolves.toEqual([connection.id]);
    await expect(idsOf({ configured: true })).resolves.toEqual([second.id]);
    await expect(idsOf({ integrationId: 'itg_unknown' })).resolves.toEqual([]);
  });
});
