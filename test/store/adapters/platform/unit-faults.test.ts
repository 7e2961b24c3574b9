import { expect, test } from '@jest/globals';
import type { NewUnit } from '../../../../src/domain/platform/organization/unit-trees.js';
import { createUnitType, updateUnitType } from '../../../../src/domain/platform/organization/unit-types.js';
import { createUnit } from '../../../../src/domain/platform/organization/units.js';
import { databaseUnderTest, describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { newUnits } from './organization.js';
import { newClient, newPlatform } from './people.js';

const sqlite = databaseUnderTest('SQLite');

function deep(levels: number): NewUnit {
  return { name: `Level ${levels}`, subUnits: levels === 1 ? [] : [deep(levels - 1)] };
}

describeEachDatabase('units of another client', (under) => {
  test('are no parents, and names of unit types are unique within a client only', async () => {
    const platform = await newPlatform(under);
    const { unitType, units } = await newUnits(platform, 'Department', ['Finance']);
    const client = await newClient(platform, platform.instance.id, 'Brindlewood');
    const elsewhere = await newUnits({ ...platform, client }, 'Department', ['Legal']);
    const noParent = { code: 'UNIT_NOT_FOUND', faults: ['parent_unit_id is no unit of the client'] };
    const below = { name: 'Payables', subUnits: [], parentUnitId: elsewhere.units[0]?.id };
    await expect(
      refusalOf(platform.run((changes) => createUnit(changes, { ...below, unitTypeId: unitType.id }))),
    ).resolves.toEqual(noParent);
    const type = { clientId: client.id, name: 'Team', units: [], parentUnitId: units[0]?.id };
    await expect(refusalOf(platform.run((changes) => createUnitType(changes, type)))).resolves.toEqual(
      noParent,
    );

    const taken = {
      code: 'ALREADY_EXISTS',
      faults: ['name is the name of another unit type of the client'],
    };
    await expect(refusalOf(newUnits(platform, ' Department', []))).resolves.toEqual(taken);
    const team = await newUnits(platform, 'Team', []);
    const rename = { unitTypeId: team.unitType.id, name: 'Department' };
    await expect(refusalOf(platform.run((changes) => updateUnitType(changes, rename)))).resolves.toEqual(
      taken,
    );
  });

  test('of one name at once become one', async () => {
    const platform = await newPlatform(under);
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => newUnits(platform, 'Department', [])));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused.map(({ code }) => code)).toEqual(Array(2).fill('ERROR_CODE_ALREADY_EXISTS'));
  });
});

test('all faults of a unit type and its units are told at once', async () => {
  const platform = await newPlatform(sqlite);
  const units = [
    { name: 'Finance', subUnits: [{ name: ' ', unitCode: '', subUnits: [] }] },
    { name: 'x'.repeat(201), description: 'a\u0007', subUnits: [] },
  ];
  const creation = { clientId: 'cli_unknown', name: '', units };
  await expect(refusalOf(platform.run((changes) => createUnitType(changes, creation)))).resolves.toEqual({
    code: 'INVALID_REQUEST',
    faults: [
      'name must not be empty',
      'units[0].sub_units[0].name must not be empty',
      'units[0].sub_units[0].unit_code must not be empty',
      'units[1].name must not be longer than 200 characters',
      'units[1].description must not contain control characters',
    ],
  });
});

test('eight levels of units come at once, and not nine', async () => {
  const platform = await newPlatform(sqlite);
  const creation = { clientId: platform.client.id, name: 'Department' };
  const tooDeep = { ...creation, units: [deep(9)] };
  await expect(refusalOf(platform.run((changes) => createUnitType(changes, tooDeep)))).resolves.toEqual({
    code: 'INVALID_REQUEST',
    faults: [`units[0]${'.sub_units[0]'.repeat(7)}.sub_units must not be more than 8 levels deep`],
  });
  const { units } = await platform.run((changes) =>
    createUnitType(changes, { ...creation, units: [deep(8)] }),
  );
  expect(units).toHaveLength(8);
});

test('a thousand units come at once, and not one more', async () => {
  const platform = await newPlatform(sqlite);
  const names = Array.from({ length: 1_001 }, (_, index) => `Unit ${index}`);
  await expect(refusalOf(newUnits(platform, 'Department', names))).resolves.toEqual({
    code: 'INVALID_REQUEST',
    faults: ['units must not have more than 1000 units'],
  });
  const { units } = await newUnits(platform, 'Department', names.slice(1));
  expect(units).toHaveLength(1_000);
});
