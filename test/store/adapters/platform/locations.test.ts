import { expect, test } from '@jest/globals';
import {
  createLocation,
  deleteLocation,
  getLocation,
  updateLocation,
} from '../../../../src/domain/platform/organization/locations.js';
import { offboardWorker } from '../../../../src/domain/platform/people/worker-changes.js';
import { getWorker } from '../../../../src/domain/platform/people/workers.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { newLocation, onboard, tracked } from './organization.js';
import { newClient, newPlatform } from './people.js';

const NO_ADDRESS = {
  address1: null,
  address2: null,
  city: null,
  isoCountryCode: null,
  postalCode: null,
  zoneCode: null,
};

describeEachDatabase('locations', (under) => {
  test('are reported when they are created', async () => {
    const platform = await newPlatform(under);
    const { client, instance } = platform;
    const { answer, touched, events } = await tracked(platform, (changes) =>
      createLocation(changes, { clientId: client.id, name: ' Harbour Office ' }),
    );
    expect(touched).toEqual([client.id]);
    expect(events).toEqual([
      {
        type: 'organization_location.created',
        occurredAt: platform.now(),
        sequence: platform.now(),
        instanceId: instance.id,
        clientId: client.id,
        entity: { type: 'organizationLocation', id: answer.id },
        data: {
          organizationLocationId: answer.id,
          clientId: client.id,
          name: 'Harbour Office',
          address: NO_ADDRESS,
          createdAt: new Date(platform.now()).toISOString(),
          links: {
            self: `/v1/instance-integrations/{instanceIntegrationId}/clients/${client.id}/organization-structure`,
          },
        },
      },
    ]);
  });

  test('change their name without an event, and their version with it', async () => {
    const platform = await newPlatform(under);
    const location = await newLocation(platform, 'Harbour Office');
    const rename = { locationId: location.id, name: 'Quay Office', expectedVersion: location.version };
    const { answer, touched, events } = await tracked(platform, (changes) => updateLocation(changes, rename));
    expect(answer).toEqual({
      ...location,
      name: 'Quay Office',
      version: expect.any(String),
      updatedAt: platform.now(),
    });
    expect(answer.version).not.toBe(location.version);
    expect(touched).toEqual([platform.client.id]);
    expect(events).toEqual([]); // No worker is there.

    const again = await tracked(platform, (changes) =>
      updateLocation(changes, { locationId: location.id, name: 'Quay Office' }),
    );
    expect(again).toEqual({ answer, touched: [], events: [] });
    await expect(refusalOf(platform.run((changes) => updateLocation(changes, rename)))).resolves.toEqual({
      code: 'VERSION_CONFLICT',
      faults: [],
    });
  });

  test('with a new name change their workers, each with an event, the offboarded without', async () => {
    const platform = await newPlatform(under);
    const location = await newLocation(platform, 'Harbour Office');
    const there = await onboard(platform, { locationId: location.id });
    const gone = await onboard(platform, { locationId: location.id });
    const offboarded = await platform.run((changes) => offboardWorker(changes, { workerId: gone.id }));
    const elsewhere = await onboard(platform, { jobTitles: ['Clerk'] });
    const update = (fields: { name?: string; address?: { city: string } }) =>
      tracked(platform, (changes) => updateLocation(changes, { locationId: location.id, ...fields }));

    const { touched, events } = await update({ name: 'Quay Office' });
    expect(touched).toEqual([platform.client.id]);
    expect(events.map(({ type, entity }) => [type, entity.id])).toEqual([['worker.updated', there.id]]);
    const renamed = { id: location.id, name: 'Quay Office' };
    expect(events.map(({ data }) => data.organizationLocation)).toEqual([renamed]);
    const present = await platform.run((changes) =>
      changes.workers.findAll(platform.client.id, [there.id, gone.id, elsewhere.id]),
    );
    const changed = { location: renamed, version: expect.any(String), updatedAt: expect.any(Number) };
    expect(present).toEqual([{ ...there, ...changed }, { ...offboarded, ...changed }, elsewhere]);
    expect([there.version, offboarded.version]).not.toEqual(
      present.slice(0, 2).map(({ version }) => version),
    );
    // Workers do not show its address.
    expect((await update({ name: 'Quay Office', address: { city: 'Salem' } })).events).toEqual([]);
  });

  test('carry their address in both events, and through every update that does not name it', async () => {
    const platform = await newPlatform(under);
    const { client } = platform;
    const address = { ...NO_ADDRESS, address1: '3 Cooper Wharf', city: 'Portland', isoCountryCode: 'US' };
    const { address1, city, isoCountryCode } = address;
    const created = await tracked(platform, (changes) =>
      createLocation(changes, {
        clientId: client.id,
        name: 'Old Port',
        address: { address1, city, isoCountryCode },
      }),
    );
    expect(created.answer.address).toEqual(address);
    expect(created.events.map(({ data }) => data.address)).toEqual([address]);

    const locationId = created.answer.id;
    const renamed = await platform.run((changes) => updateLocation(changes, { locationId, name: 'Quay' }));
    expect(renamed).toMatchObject({ name: 'Quay', address });
    const moved = await tracked(platform, (changes) =>
      updateLocation(changes, { locationId, address: { city: 'Salem' } }),
    );
    // The address is written as a whole.
    expect(moved.answer).toMatchObject({ name: 'Quay', address: { ...NO_ADDRESS, city: 'Salem' } });
    expect(moved.answer.version).not.toBe(renamed.version);
    expect(moved.events).toEqual([]);
    const same = await tracked(platform, (changes) =>
      updateLocation(changes, { locationId, name: 'Quay', address: { city: 'Salem' } }),
    );
    expect(same).toEqual({ answer: moved.answer, touched: [], events: [] });
    expect(await platform.run((changes) => getLocation(changes, locationId))).toEqual(moved.answer);

    const deleted = await tracked(platform, (changes) => deleteLocation(changes, { locationId }));
    expect(deleted.events.map(({ data }) => data.address)).toEqual([{ ...NO_ADDRESS, city: 'Salem' }]);
  });

  test('lose their address where the mask names it without a value, and nothing else', async () => {
    const platform = await newPlatform(under);
    const creation = { clientId: platform.client.id, name: 'Old Port', address: { city: 'Portland' } };
    const { id } = await platform.run((changes) => createLocation(changes, creation));
    const cleared = await platform.run((changes) =>
      updateLocation(changes, { locationId: id, name: 'Quay', updateMask: ['address'] }),
    );
    expect(cleared).toMatchObject({ name: 'Old Port', address: NO_ADDRESS });
  });

  test('keep no white space around the parts of an address, and no blank ones', async () => {
    const platform = await newPlatform(under);
    const address = { address1: '', city: ' Salem ', isoCountryCode: '', postalCode: '  ' };
    const creation = { clientId: platform.client.id, name: 'Quay', address };
    const location = await platform.run((changes) => createLocation(changes, creation));
    expect(location.address).toEqual({ ...NO_ADDRESS, city: 'Salem' });
  });

  test.each([
    [
      { isoCountryCode: 'UK' },
      'address.iso_country_code must be a country code of two capital letters (ISO 3166-1 alpha-2), such as GB',
    ],
    [
      { isoCountryCode: 'XX' },
      'address.iso_country_code must be a country code of two capital letters (ISO 3166-1 alpha-2), such as GB',
    ],
    [{ city: 'x'.repeat(201) }, 'address.city must not be longer than 200 characters'],
    [{ zoneCode: 'a\u0007' }, 'address.zone_code must not contain control characters'],
  ])('take no address such as %j', async (address, fault) => {
    const platform = await newPlatform(under);
    const location = await newLocation(platform, 'Old Port');
    await platform.newEvents();
    const refused = { code: 'INVALID_REQUEST', faults: [fault] };
    const creation = { clientId: platform.client.id, name: 'Quay', address };
    const update = { locationId: location.id, address };
    expect(await refusalOf(platform.run((changes) => createLocation(changes, creation)))).toEqual(refused);
    expect(await refusalOf(platform.run((changes) => updateLocation(changes, update)))).toEqual(refused);
    expect(await platform.run((changes) => getLocation(changes, location.id))).toEqual(location);
    expect(await platform.newEvents()).toEqual([]);
  });

  test('detach their workers when they are deleted, each with an event, the offboarded too', async () => {
    const platform = await newPlatform(under);
    const { client } = platform;
    const location = await newLocation(platform, 'Harbour Office');
    const other = await newLocation(platform, 'Hill Office');
    const there = await onboard(platform, { locationId: location.id });
    const gone = await onboard(platform, { locationId: location.id });
    await platform.run((changes) => offboardWorker(changes, { workerId: gone.id }));
    const elsewhere = await onboard(platform, { locationId: other.id });

    const { answer, touched, events } = await tracked(platform, (changes) =>
      deleteLocation(changes, { locationId: location.id }),
    );
    expect(answer).toEqual({ detachedWorkers: 2 });
    expect(touched).toEqual([client.id]);
    const deleted = events.filter(({ type }) => type === 'organization_location.deleted');
    expect(deleted).toMatchObject([
      {
        entity: { type: 'organizationLocation', id: location.id },
        data: { name: 'Harbour Office', deletedAt: new Date(platform.now()).toISOString() },
      },
    ]);
    const updated = events.filter(({ type }) => type === 'worker.updated');
    expect(new Set(updated.map(({ entity }) => entity.id))).toEqual(new Set([there.id, gone.id]));
    expect(updated.map(({ data }) => data.organizationLocation)).toEqual([null, null]);
    expect(events).toHaveLength(3);

    const [left, stayed, former] = await platform.run(async (changes) => [
      await getWorker(changes, there.id),
      await getWorker(changes, elsewhere.id),
      await getWorker(changes, gone.id),
    ]);
    expect(former?.location).toBeNull();
    expect(left).toMatchObject({ location: null, updatedAt: platform.now() - 1 });
    expect(left?.version).not.toBe(there.version);
    expect(stayed).toEqual(elsewhere);
    await expect(
      refusalOf(platform.run((changes) => getLocation(changes, location.id))),
    ).resolves.toMatchObject({ code: 'LOCATION_NOT_FOUND' });
  });

  test('of many workers detach every one', async () => {
    const platform = await newPlatform(under);
    const location = await newLocation(platform, 'Harbour Office');
    for (let count = 0; count < 260; count += 1) {
      await onboard(platform, { locationId: location.id });
    }
    const { answer, events } = await tracked(platform, (changes) =>
      deleteLocation(changes, { locationId: location.id }),
    );
    expect(answer).toEqual({ detachedWorkers: 260 });
    expect(new Set(events.map(({ entity }) => entity.id)).size).toBe(261);
  });

  test('have names that are unique within their client only', async () => {
    const platform = await newPlatform(under);
    const location = await newLocation(platform, 'Harbour Office');
    const other = await newLocation(platform, 'Hill Office');
    const taken = {
      code: 'ALREADY_EXISTS',
      faults: ['name is the name of another location of the client'],
    };
    await expect(refusalOf(newLocation(platform, ' Harbour Office'))).resolves.toEqual(taken);
    const rename = { locationId: other.id, name: location.name };
    await expect(refusalOf(platform.run((changes) => updateLocation(changes, rename)))).resolves.toEqual(
      taken,
    );
    const client = await newClient(platform, platform.instance.id, 'Brindlewood');
    await expect(newLocation({ ...platform, client }, 'Harbour Office')).resolves.toMatchObject({
      clientId: client.id,
    });
  });

  test.each([
    ['an empty name', ' ', ['name must not be empty']],
    ['a name too long', 'x'.repeat(201), ['name must not be longer than 200 characters']],
    ['a name with a NUL', 'a\0b', ['name must not contain control characters']],
    ['a name with a C1 control', 'a\u009bb', ['name must not contain control characters']],
    ['a name of two lines', 'a\u2028b', ['name must not contain control characters']],
    ['a name with a reversed part', 'a\u202eb\u202c', ['name must not contain control characters']],
  ])('are refused with %s', async (_, name, faults) => {
    const platform = await newPlatform(under);
    const refusal = { code: 'INVALID_REQUEST', faults };
    await expect(refusalOf(newLocation(platform, name))).resolves.toEqual(refusal);
    expect(await platform.newEvents()).toEqual([]);
  });

  test.each(['Pier\r\n', '\tPier', `${'x'.repeat(200)} `])(
    'are named %j without the blanks around it',
    async (name) => {
      const platform = await newPlatform(under);
      const address = { city: name };
      const creation = { clientId: platform.client.id, name, address };
      const made = await platform.run((changes) => createLocation(changes, creation));
      expect([made.name, made.address.city]).toEqual([name.trim(), name.trim()]);
    },
  );

  test('are refused without a client and a name, naming both', async () => {
    const platform = await newPlatform(under);
    const write = platform.run((changes) => createLocation(changes, { clientId: '', name: '' }));
    await expect(refusalOf(write)).resolves.toEqual({
      code: 'INVALID_REQUEST',
      faults: ['client_id must not be empty', 'name must not be empty'],
    });
  });

  test('are refused at a client that does not exist, leaving nothing', async () => {
    const platform = await newPlatform(under);
    const before = await platform.dataVersions();
    const creation = { clientId: 'cli_unknown', name: 'Harbour Office' };
    await expect(
      refusalOf(platform.run((changes) => createLocation(changes, creation))),
    ).resolves.toMatchObject({ code: 'CLIENT_NOT_FOUND' });
    expect(await platform.dataVersions()).toEqual(before);
  });
});
