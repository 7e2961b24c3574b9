import { expect, test } from '@jest/globals';
import {
  createUnitType,
  deleteUnitType,
  updateUnitType,
} from '../../../../src/domain/platform/organization/unit-types.js';
import {
  createUnit,
  deleteUnit,
  getUnit,
  updateUnit,
} from '../../../../src/domain/platform/organization/units.js';
import { assignWorkerUnits, offboardWorker } from '../../../../src/domain/platform/people/worker-changes.js';
import { getWorker } from '../../../../src/domain/platform/people/workers.js';
import type { Changes } from '../../../../src/domain/platform/unit-of-work.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { newUnits, onboard, tracked } from './organization.js';
import { newPlatform, type Platform } from './people.js';

/** Notes the entities of events in the order in which they are recorded. */
function noting(changes: Changes, order: string[]): Changes {
  return {
    ...changes,
    recordEvent: async (...events) => {
      order.push(...events.map(({ entity }) => entity.id));
      await changes.recordEvent(...events);
    },
  };
}

/** A chain of units, each below the one before. */
async function chainOf(platform: Platform, length: number) {
  const { unitType, units } = await newUnits(platform, 'Department', ['1']);
  for (let number = 2; number <= length; number += 1) {
    const { unit } = await platform.run((changes) =>
      createUnit(changes, {
        unitTypeId: unitType.id,
        name: String(number),
        parentUnitId: units.at(-1)?.id,
        subUnits: [],
      }),
    );
    units.push(unit);
  }
  return units.map(({ id }) => id);
}

describeEachDatabase('unit types and units', (under) => {
  test('created together are reported together and one by one, parents before children', async () => {
    const platform = await newPlatform(under);
    const { client, instance } = platform;
    const top = (await newUnits(platform, 'Division', ['Europe'])).units[0];
    const parent = { id: top?.id, name: 'Europe' };
    const order: string[] = [];
    const leaf = { name: 'Payables', subUnits: [] };
    const finance = { name: ' Finance ', unitCode: 'F-1', description: 'Money', subUnits: [leaf] };
    const { answer, touched, events } = await tracked(platform, (changes) =>
      createUnitType(noting(changes, order), {
        clientId: client.id,
        name: 'Department',
        units: [finance, { name: 'Legal', subUnits: [] }],
        parentUnitId: top?.id,
      }),
    );
    const { unitType, units } = answer;
    const [financeUnit, payables, legal] = units;
    expect(units.map(({ name, parentUnitId }) => [name, parentUnitId])).toEqual([
      ['Finance', top?.id],
      ['Payables', financeUnit?.id],
      ['Legal', top?.id],
    ]);
    expect(touched).toEqual([client.id]);
    expect(order).toEqual([unitType.id, financeUnit?.id, payables?.id, legal?.id]);
    expect(events).toHaveLength(4);

    const links = {
      self: `/v1/instance-integrations/{instanceIntegrationId}/clients/${client.id}/organization-structure`,
    };
    const createdAt = new Date(platform.now()).toISOString();
    const ofType = events.find(({ type }) => type === 'organization_unit_type.created');
    const financeData = {
      organizationUnitId: financeUnit?.id,
      name: 'Finance',
      unitCode: 'F-1',
      description: 'Money',
      parentUnit: parent,
    };
    const plain = { unitCode: null, description: null };
    const payablesData = {
      ...plain,
      organizationUnitId: payables?.id,
      name: 'Payables',
      parentUnit: { id: financeUnit?.id, name: 'Finance' },
    };
    expect(ofType?.data).toEqual({
      organizationUnitTypeId: unitType.id,
      clientId: client.id,
      name: 'Department',
      units: [
        financeData,
        payablesData,
        { ...plain, organizationUnitId: legal?.id, name: 'Legal', parentUnit: parent },
      ],
      createdAt,
      links,
    });
    expect(events.find(({ entity }) => entity.id === payables?.id)).toEqual({
      type: 'organization_unit.created',
      occurredAt: platform.now(),
      sequence: platform.now(),
      instanceId: instance.id,
      clientId: client.id,
      entity: { type: 'organizationUnit', id: payables?.id },
      data: {
        ...payablesData,
        clientId: client.id,
        unitType: { id: unitType.id, name: 'Department' },
        createdAt,
        links,
      },
    });
    await expect(platform.run((changes) => getUnit(changes, payables?.id ?? ''))).resolves.toEqual(payables);
  });

  test('added later bring the units below them', async () => {
    const platform = await newPlatform(under);
    const { unitType } = await newUnits(platform, 'Department', []);
    const subUnits = [{ name: 'Payables', subUnits: [{ name: 'Travel', subUnits: [] }] }];
    const { answer, touched, events } = await tracked(platform, (changes) =>
      createUnit(changes, { unitTypeId: unitType.id, name: 'Finance', subUnits }),
    );
    expect(answer.unit).toMatchObject({ name: 'Finance', parentUnitId: null, unitTypeId: unitType.id });
    expect(answer.subUnits.map(({ name }) => name)).toEqual(['Payables', 'Travel']);
    expect(touched).toEqual([platform.client.id]);
    expect(events.map(({ type }) => type)).toEqual(Array(3).fill('organization_unit.created'));
  });

  test('change without an event, and what is as it was changes nothing', async () => {
    const platform = await newPlatform(under);
    const { unitType, units } = await newUnits(platform, 'Department', ['Finance']);
    const id = units[0]?.id ?? '';
    const updates: ((changes: Changes) => Promise<unknown>)[] = [
      (changes) => updateUnitType(changes, { unitTypeId: unitType.id, name: 'Section' }),
      (changes) => updateUnit(changes, { unitId: id, name: 'Treasury', unitCode: 'T', description: 'Gold' }),
      (changes) => updateUnit(changes, { unitId: id, updateMask: ['unit_code', 'parent_unit_id'] }),
    ];
    for (const update of updates) {
      const first = await tracked(platform, update);
      expect(first).toMatchObject({ touched: [platform.client.id], events: [] });
      const second = await tracked(platform, update);
      expect(second).toEqual({ answer: first.answer, touched: [], events: [] });
    }
    await expect(platform.run((changes) => getUnit(changes, id))).resolves.toMatchObject({
      name: 'Treasury',
      unitCode: null,
      description: 'Gold',
    });
    const stale = { unitId: id, name: 'Vault', expectedVersion: units[0]?.version };
    await expect(refusalOf(platform.run((changes) => updateUnit(changes, stale)))).resolves.toMatchObject({
      code: 'VERSION_CONFLICT',
    });
  });

  test('with a new name change their workers, each with an event', async () => {
    const platform = await newPlatform(under);
    const { units } = await newUnits(platform, 'Department', ['Finance', 'Legal']);
    const [finance, legal] = units.map(({ id, name }) => ({ id, name }));
    const unitId = finance?.id ?? '';
    const worker = await onboard(platform, { unitIds: [legal?.id ?? '', unitId], primaryUnitId: unitId });
    const second = await onboard(platform, { unitIds: [legal?.id ?? '', unitId] });
    await onboard(platform, { unitIds: [legal?.id ?? ''] });
    const update = (fields: { name: string; unitCode?: string }) =>
      tracked(platform, (changes) => updateUnit(changes, { unitId, ...fields }));

    const { touched, events } = await update({ name: 'Treasury' });
    expect(touched).toEqual([platform.client.id]);
    const renamed = { id: unitId, name: 'Treasury' };
    expect(events.map(({ type, entity }) => [type, entity.id]).sort()).toEqual(
      [worker.id, second.id].sort().map((id) => ['worker.updated', id]),
    );
    const told = events.find(({ entity }) => entity.id === worker.id);
    expect(told?.data).toMatchObject({ organizationUnits: [legal, renamed], organizationUnit: renamed });
    const stored = await platform.run((changes) => getWorker(changes, worker.id));
    expect(stored).toMatchObject({ units: [legal, renamed], primaryUnit: renamed });
    expect(stored.version).not.toBe(worker.version);
    // Workers do not show its code.
    expect((await update({ name: 'Treasury', unitCode: 'T' })).events).toEqual([]);
  });

  test.each([
    ['themselves', 0, 0],
    ['their child', 0, 1],
    ['one far below', 1, 3],
  ])('are not moved below %s', async (_, moved, target) => {
    const platform = await newPlatform(under);
    const chain = await chainOf(platform, 4);
    const move = { unitId: chain[moved] as string, parentUnitId: chain[target] };
    await expect(refusalOf(platform.run((changes) => updateUnit(changes, move)))).resolves.toEqual({
      code: 'INVALID_REQUEST',
      faults: ['parent_unit_id must not be the unit itself or one below it'],
    });
  });

  test('are judged in one read, however far below the top they go', async () => {
    const platform = await newPlatform(under);
    const chain = await chainOf(platform, 12);
    const { units } = await newUnits(platform, 'Team', ['Nights']);
    const finds: string[] = [];
    await platform.run((changes) => {
      const find = (id: string) => {
        finds.push(id);
        return changes.units.find(id);
      };
      const counted = { ...changes, units: { ...changes.units, find } };
      return updateUnit(counted, { unitId: units[0]?.id ?? '', parentUnitId: chain.at(-1) });
    });
    expect(new Set(finds)).toEqual(new Set([units[0]?.id, chain.at(-1)]));
  });

  test('are moved elsewhere, and to the top', async () => {
    const platform = await newPlatform(under);
    const chain = await chainOf(platform, 4);
    const move = (update: { parentUnitId?: string; updateMask?: string[] }) =>
      platform.run((changes) => updateUnit(changes, { unitId: chain[3] as string, ...update }));
    await expect(move({ parentUnitId: chain[0] })).resolves.toMatchObject({ parentUnitId: chain[0] });
    await expect(move({ updateMask: ['parent_unit_id'] })).resolves.toMatchObject({ parentUnitId: null });
  });

  test('of two moves at once that would close a ring one is refused, however often it is tried', async () => {
    const platform = await newPlatform(under);
    const names = Array.from({ length: 24 }, (_, index) => `${index}`);
    const ids = (await newUnits(platform, 'Department', names)).units.map(({ id }) => id);
    // Each is to go below its neighbour, and the neighbour below it.
    const moves = ids.map((unitId, index) => ({ unitId, parentUnitId: ids[index ^ 1] }));
    const outcomes = await Promise.allSettled(
      moves.map((move) => platform.run((changes) => updateUnit(changes, move))),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(names.length / 2);
  });

  test('are not deleted while they are in use, and say by what', async () => {
    const platform = await newPlatform(under);
    const [top = '', leaf = ''] = await chainOf(platform, 2);
    const worker = await onboard(platform, { unitIds: [top, leaf] });
    const { unitTypeId } = await platform.run((changes) => getUnit(changes, top));
    const remove = (unitId: string) => platform.run((changes) => deleteUnit(changes, { unitId }));
    const removeType = () => platform.run((changes) => deleteUnitType(changes, { unitTypeId }));

    await expect(remove(top)).rejects.toThrow('The unit still has units below it and workers.');
    await expect(remove(leaf)).rejects.toThrow('The unit still has workers.');
    await expect(refusalOf(removeType())).resolves.toEqual({ code: 'RESOURCE_IN_USE', faults: [] });
    await platform.run((changes) => assignWorkerUnits(changes, { workerId: worker.id, unitIds: [] }));
    await remove(leaf);
    await remove(top);
    await removeType();
    await expect(refusalOf(remove(top))).resolves.toMatchObject({ code: 'UNIT_NOT_FOUND' });
    await expect(refusalOf(removeType())).resolves.toMatchObject({ code: 'UNIT_TYPE_NOT_FOUND' });
  });

  test('are deleted in spite of workers who were offboarded, who lose them without an event', async () => {
    const platform = await newPlatform(under);
    const [first, second] = (await newUnits(platform, 'Department', ['Finance', 'Legal'])).units;
    const unitIds = [first?.id ?? '', second?.id ?? ''];
    const worker = await onboard(platform, { unitIds });
    await platform.run((changes) => offboardWorker(changes, { workerId: worker.id }));
    const { events } = await tracked(platform, (changes) =>
      deleteUnit(changes, { unitId: unitIds[0] as string }),
    );
    const left = { id: unitIds[1], name: 'Legal' };
    expect(events).toEqual([]);
    await expect(platform.run((changes) => getWorker(changes, worker.id))).resolves.toMatchObject({
      units: [left],
      primaryUnit: left,
    });
  });
});
