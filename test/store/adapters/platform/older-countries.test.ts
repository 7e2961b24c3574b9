import { expect, test } from '@jest/globals';
import type { AddressInput } from '../../../../src/domain/platform/addresses.js';
import { updateClient } from '../../../../src/domain/platform/organization/clients.js';
import { updateLocation } from '../../../../src/domain/platform/organization/locations.js';
import { updateWorker } from '../../../../src/domain/platform/people/worker-changes.js';
import type { Changes } from '../../../../src/domain/platform/unit-of-work.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { newLocation, onboard } from './organization.js';
import { newPlatform, type Platform } from './people.js';

type Update = (changes: Changes, id: string, address: AddressInput) => Promise<{ address: object }>;

const KINDS: {
  table: 'clients' | 'workers' | 'locations';
  make: (p: Platform) => Promise<{ id: string }>;
  update: Update;
}[] = [
  {
    table: 'clients',
    make: async ({ client }) => client,
    update: (changes, clientId, address) => updateClient(changes, { clientId, address }),
  },
  {
    table: 'workers',
    make: (platform) => onboard(platform),
    update: (changes, workerId, address) => updateWorker(changes, { workerId, address, jobTitles: [] }),
  },
  {
    table: 'locations',
    make: (platform) => newLocation(platform, 'Harbour Office'),
    update: (changes, locationId, address) => updateLocation(changes, { locationId, address }),
  },
];

describeEachDatabase('a country code from before the list', (under) => {
  test.each(KINDS)(
    'of $table may be sent back, and no other unknown one',
    async ({ table, make, update }) => {
      const platform = await newPlatform(under);
      const { id } = await make(platform);
      await platform.database.write((writer) =>
        writer.updateTable(table).set({ iso_country_code: 'UK' }).where('id', '=', id).execute(),
      );
      const moved = { city: 'Leeds', isoCountryCode: 'UK' };
      expect(await platform.run((changes) => update(changes, id, moved))).toMatchObject({ address: moved });
      const refused = platform.run((changes) => update(changes, id, { isoCountryCode: 'XX' }));
      expect(await refusalOf(refused)).toMatchObject({ code: 'INVALID_REQUEST' });
    },
  );
});
