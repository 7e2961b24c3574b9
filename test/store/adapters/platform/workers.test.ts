import { expect, test } from '@jest/globals';
import { createUser } from '../../../../src/domain/platform/people/users.js';
import {
  assignWorkerUnits,
  offboardWorker,
  onboardWorker,
  updateWorker,
} from '../../../../src/domain/platform/people/worker-changes.js';
import { getWorker } from '../../../../src/domain/platform/people/workers.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { newLocation, newUnits, onboard, onboarding, tracked } from './organization.js';
import { newClient, newPlatform } from './people.js';

const ADDRESS = { address1: 'Quay 4', city: 'Porthaven', isoCountryCode: 'GB' };
const WHOLE_ADDRESS = { ...ADDRESS, address2: null, postalCode: null, zoneCode: null };

describeEachDatabase('workers', (under) => {
  test('are reported with their whole place in the organization when they are onboarded', async () => {
    const platform = await newPlatform(under);
    const { client, instance } = platform;
    const location = await newLocation(platform, 'Harbour Office');
    const { units } = await newUnits(platform, 'Department', ['Legal', 'Finance']);
    const unitIds = units.map(({ id }) => id).reverse();
    const { answer, touched, events } = await tracked(platform, (changes) =>
      onboardWorker(
        changes,
        onboarding(platform, {
          email: ' Ines.Carver@Example.com ',
          firstName: ' Ines ',
          phone: '+44 20 5550 0101',
          jobTitles: ['Welder ', 'Clerk'],
          address: ADDRESS,
          unitIds,
          primaryUnitId: unitIds[1],
          locationId: location.id,
        }),
      ),
    );
    const named = { finance: { id: unitIds[0], name: 'Finance' }, legal: { id: unitIds[1], name: 'Legal' } };
    const shown = {
      clientId: client.id,
      firstName: 'Ines',
      lastName: 'Carver',
      fullName: 'Ines Carver',
      email: 'Ines.Carver@Example.com',
      phone: '+44 20 5550 0101',
      jobTitles: ['Welder', 'Clerk'],
    };
    expect(answer).toMatchObject({
      ...shown,
      address: WHOLE_ADDRESS,
      units: [named.finance, named.legal],
      primaryUnit: named.legal,
      location: { id: location.id, name: 'Harbour Office' },
      offboardedAt: null,
    });
    expect(touched).toEqual([client.id]);
    expect(events).toEqual([
      {
        type: 'worker.onboarded',
        occurredAt: platform.now(),
        sequence: platform.now(),
        instanceId: instance.id,
        clientId: client.id,
        entity: { type: 'worker', id: answer.id },
        data: {
          ...shown,
          workerId: answer.id,
          location: WHOLE_ADDRESS,
          organizationUnits: [named.finance, named.legal],
          organizationUnit: named.legal,
          organizationLocation: { id: location.id, name: 'Harbour Office' },
          offboardedAt: null,
          createdAt: new Date(platform.now()).toISOString(),
          links: {
            self: `/v2/instance-integrations/{instanceIntegrationId}/clients/${client.id}/workers/${answer.id}`,
          },
        },
      },
    ]);
    await expect(platform.run((changes) => getWorker(changes, answer.id))).resolves.toEqual(answer);
    const titles = await platform.run(({ jobTitles }) => jobTitles.page(client.id, undefined, 10));
    expect(titles).toEqual(['Clerk', 'Welder']);
  });

  test('have the first of their units for the primary one, and none without units', async () => {
    const platform = await newPlatform(under);
    const { units } = await newUnits(platform, 'Department', ['Finance', 'Legal']);
    const unitIds = units.map(({ id }) => id);
    await expect(onboard(platform, { unitIds })).resolves.toMatchObject({ primaryUnit: { id: unitIds[0] } });
    await expect(onboard(platform)).resolves.toMatchObject({ units: [], primaryUnit: null, location: null });
  });

  test('are the same person as the account with the address, at any client, as a user or a worker', async () => {
    const platform = await newPlatform(under);
    const { client, instance, run } = platform;
    const creation = { clientId: client.id, email: 'Ines.Carver@example.com', withoutManager: true };
    const user = await run((changes) => createUser(changes, creation));
    const other = await newClient(platform, instance.id, 'Brindlewood');
    const first = await run((changes) => onboardWorker(changes, onboarding(platform)));
    const second = await run((changes) => onboardWorker(changes, onboarding({ client: other })));
    const account = await run(({ accounts }) => accounts.findByEmail('ines.carver@example.com'));
    expect(user).toMatchObject({ accountId: account?.id });
    expect([first.accountId, second.accountId]).toEqual([account?.id, account?.id]);
  });

  test('onboarded at once with one address become one', async () => {
    const platform = await newPlatform(under);
    const attempts = [1, 2, 3, 4].map(() => onboard(platform, { email: 'ines.carver@example.com' }));
    const outcomes = await Promise.allSettled(attempts);
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(reasons.map(({ code }) => code)).toEqual(Array(3).fill('ERROR_CODE_ALREADY_EXISTS'));
    expect(await platform.newEvents()).toHaveLength(1);
  });

  test('change, with an event of what they are now, and what is as it was changes nothing', async () => {
    const platform = await newPlatform(under);
    const location = await newLocation(platform, 'Harbour Office');
    const worker = await onboard(platform, { jobTitles: ['Welder'], phone: '1', address: ADDRESS });
    const base = { workerId: worker.id, jobTitles: [] };
    const updates = [
      [
        { ...base, lastName: ' Dale ' },
        { lastName: 'Dale', fullName: 'Ines Dale' },
      ],
      [{ ...base, jobTitles: ['Cook', 'Welder'] }, { jobTitles: ['Cook', 'Welder'] }],
      [{ ...base, locationId: location.id }, { location: { id: location.id, name: 'Harbour Office' } }],
      [
        { ...base, address: { city: 'Y' } },
        { address: { ...WHOLE_ADDRESS, address1: null, city: 'Y', isoCountryCode: null } },
      ],
      [
        { ...base, email: 'ines@example.org' },
        { email: 'ines@example.org', accountId: worker.accountId },
      ],
      [
        { ...base, updateMask: ['phone', 'location_id'] },
        { phone: null, location: null },
      ],
      [{ ...base, updateMask: ['job_titles'] }, { jobTitles: [] }],
    ] as const;
    let { version } = worker;
    for (const [update, wanted] of updates) {
      const first = await tracked(platform, (changes) =>
        updateWorker(changes, { ...update, expectedVersion: version }),
      );
      expect(first.answer).toMatchObject({ ...wanted, updatedAt: platform.now() });
      expect(first.answer.version).not.toBe(version);
      expect(first.touched).toEqual([platform.client.id]);
      expect(first.events).toMatchObject([{ type: 'worker.updated', entity: { id: worker.id } }]);
      const { jobTitles, fullName, email, phone } = first.answer;
      expect(first.events[0]?.data).toMatchObject({ jobTitles, fullName, email, phone });
      await expect(platform.run((changes) => getWorker(changes, worker.id))).resolves.toEqual(first.answer);
      const second = await tracked(platform, (changes) => updateWorker(changes, update));
      expect(second).toEqual({ answer: first.answer, touched: [], events: [] });
      version = first.answer.version;
    }
  });

  test('are assigned to units in an order, and keep the primary one while they can', async () => {
    const platform = await newPlatform(under);
    const { units } = await newUnits(platform, 'Department', ['A', 'B', 'C']);
    const [a = '', b = '', c = ''] = units.map(({ id }) => id);
    const { id } = await onboard(platform, { unitIds: [a, b], primaryUnitId: b });
    const steps = [
      [{ unitIds: [c, b] }, b],
      [{ unitIds: [b, c] }, b],
      [{ unitIds: [c, a] }, c],
      [{ unitIds: [c, a], primaryUnitId: a }, a],
      [{ unitIds: [] }, undefined],
    ] as const;
    for (const [assignment, primary] of steps) {
      const assign = () =>
        tracked(platform, (changes) => assignWorkerUnits(changes, { workerId: id, ...assignment }));
      const { answer, touched, events } = await assign();
      expect(answer.units.map((unit) => unit.id)).toEqual(assignment.unitIds);
      expect(answer.primaryUnit?.id).toBe(primary);
      expect(touched).toEqual([platform.client.id]);
      expect(events).toMatchObject([
        {
          type: 'worker.updated',
          data: { organizationUnits: answer.units, organizationUnit: answer.primaryUnit },
        },
      ]);
      await expect(platform.run((changes) => getWorker(changes, id))).resolves.toEqual(answer);
      await expect(assign()).resolves.toEqual({ answer, touched: [], events: [] });
    }
  });

  test('are offboarded once, answer as they were, and may come back as another worker', async () => {
    const platform = await newPlatform(under);
    const worker = await onboard(platform, { jobTitles: ['Welder'] });
    const offboard = { workerId: worker.id, expectedVersion: worker.version };
    const first = await tracked(platform, (changes) => offboardWorker(changes, offboard));
    expect(first.answer).toEqual({
      ...worker,
      offboardedAt: platform.now(),
      updatedAt: platform.now(),
      version: expect.any(String),
    });
    expect(first.touched).toEqual([platform.client.id]);
    const offboardedAt = new Date(platform.now()).toISOString();
    expect(first.events).toMatchObject([
      { type: 'worker.updated', data: { jobTitles: ['Welder'], offboardedAt } },
    ]);
    const again = await tracked(platform, (changes) => offboardWorker(changes, { workerId: worker.id }));
    expect(again).toEqual({ answer: first.answer, touched: [], events: [] });

    const back = await onboard(platform, { email: worker.email });
    expect(back.id).not.toBe(worker.id);
    expect(back.accountId).toBe(worker.accountId);
  });
});
