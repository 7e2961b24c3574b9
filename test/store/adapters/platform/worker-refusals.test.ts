import { expect, test } from '@jest/globals';
import {
  assignWorkerUnits,
  offboardWorker,
  onboardWorker,
  updateWorker,
} from '../../../../src/domain/platform/people/worker-changes.js';
import type { Worker } from '../../../../src/domain/platform/rows/people.js';
import type { Changes } from '../../../../src/domain/platform/unit-of-work.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { newLocation, newUnits, onboard, onboarding } from './organization.js';
import { newClient, newPlatform } from './people.js';

const WRITES: [string, (changes: Changes, worker: { id: string; version?: string }) => Promise<Worker>][] = [
  [
    'updating',
    (changes, { id, version }) =>
      updateWorker(changes, { workerId: id, jobTitles: [], phone: '2', expectedVersion: version }),
  ],
  [
    'assigning',
    (changes, { id, version }) =>
      assignWorkerUnits(changes, { workerId: id, unitIds: [], expectedVersion: version }),
  ],
  [
    'offboarding',
    (changes, { id, version }) => offboardWorker(changes, { workerId: id, expectedVersion: version }),
  ],
];

describeEachDatabase('refusals of workers', (under) => {
  test('all faults of an onboarding are told at once, and nothing is written', async () => {
    const platform = await newPlatform(under);
    const faulty = onboarding(platform, {
      email: 'nobody',
      firstName: ' ',
      lastName: 'x'.repeat(201),
      phone: '',
      jobTitles: ['Welder', ' Welder', ''],
      address: { isoCountryCode: 'gb' },
      unitIds: ['oun_1', 'oun_1'],
      primaryUnitId: 'oun_2',
    });
    const before = await platform.dataVersions();
    await expect(refusalOf(platform.run((changes) => onboardWorker(changes, faulty)))).resolves.toEqual({
      code: 'INVALID_REQUEST',
      faults: [
        'email must be an e-mail address',
        'first_name must not be empty',
        'last_name must not be longer than 200 characters',
        'phone must not be empty',
        'job_titles[2] must not be empty',
        'job_titles[1] must not repeat an earlier item',
        'address.iso_country_code must be a country code of two capital letters (ISO 3166-1 alpha-2), such as GB',
        'unit_ids[1] must not repeat an earlier item',
        'primary_unit_id must be one of unit_ids',
      ],
    });
    expect(await platform.dataVersions()).toEqual(before);
    expect(await platform.newEvents()).toEqual([]);
  });

  test('unknown units and locations are like those of another client, and no account remains', async () => {
    const platform = await newPlatform(under);
    const client = await newClient(platform, platform.instance.id, 'Brindlewood');
    const elsewhere = { ...platform, client };
    const { units } = await newUnits(elsewhere, 'Department', ['Finance']);
    const location = await newLocation(elsewhere, 'Harbour Office');
    await platform.newEvents();
    const attempt = (fields: Parameters<typeof onboarding>[1]) =>
      refusalOf(platform.run((changes) => onboardWorker(changes, onboarding(platform, fields))));

    await expect(attempt({ unitIds: [units[0]?.id ?? '', 'oun_1'] })).resolves.toEqual({
      code: 'UNIT_NOT_FOUND',
      faults: ['unit_ids[0] is no unit of the client', 'unit_ids[1] is no unit of the client'],
    });
    for (const locationId of [location.id, 'olo_1']) {
      await expect(attempt({ locationId })).resolves.toEqual({
        code: 'LOCATION_NOT_FOUND',
        faults: ['location_id is no location of the client'],
      });
    }
    await expect(attempt({ clientId: 'cli_1' })).resolves.toEqual({ code: 'CLIENT_NOT_FOUND', faults: [] });
    const { rows } = await platform.run(async ({ accounts }) => ({
      rows: await accounts.findByEmail('ines.carver@example.com'),
    }));
    expect(rows).toBeUndefined();
    expect(await platform.newEvents()).toEqual([]);
  });

  test('a person who works for the client already is not onboarded again', async () => {
    const platform = await newPlatform(under);
    const { email } = await onboard(platform);
    await expect(refusalOf(onboard(platform, { email: email.toUpperCase() }))).resolves.toEqual({
      code: 'ALREADY_EXISTS',
      faults: ['email must not be the address of a worker of the same client'],
    });
  });

  test.each(WRITES)(
    '%s one who is not there, or of whom a version was seen that is over',
    async (_, write) => {
      const platform = await newPlatform(under);
      const { id } = await onboard(platform);
      await platform.newEvents();
      const attempt = (worker: { id: string; version?: string }) =>
        refusalOf(platform.run((changes) => write(changes, worker)));
      await expect(attempt({ id: 'wrk_1' })).resolves.toEqual({ code: 'WORKER_NOT_FOUND', faults: [] });
      await expect(attempt({ id, version: 'over' })).resolves.toEqual({
        code: 'VERSION_CONFLICT',
        faults: [],
      });
      expect(await platform.newEvents()).toEqual([]);
    },
  );

  test.each(WRITES.slice(0, 2))('%s one who was offboarded', async (_, write) => {
    const platform = await newPlatform(under);
    const { id } = await onboard(platform);
    await platform.run((changes) => offboardWorker(changes, { workerId: id }));
    await platform.newEvents();
    await expect(refusalOf(platform.run((changes) => write(changes, { id })))).resolves.toEqual({
      code: 'TRANSITION_REFUSED',
      faults: [],
    });
    expect(await platform.newEvents()).toEqual([]);
  });

  test.each([
    [{ updateMask: ['first_name', 'email'] }, ['first_name cannot be cleared', 'email cannot be cleared']],
    [{ updateMask: ['unit_ids'] }, ['update_mask does not know unit_ids']],
    [{ firstName: '', email: '' }, ['email must not be empty', 'first_name must not be empty']],
  ])('an update with %j', async (update, faults) => {
    const platform = await newPlatform(under);
    const { id } = await onboard(platform);
    const attempt = platform.run((changes) =>
      updateWorker(changes, { workerId: id, jobTitles: [], ...update }),
    );
    await expect(refusalOf(attempt)).resolves.toEqual({ code: 'INVALID_REQUEST', faults });
  });
});
