import type { AccountId, InstanceId, InstanceIntegrationId, IntegrationId } from '../../../generated/ids.js';
import { type DemoApplication, demoAppId, demoApplications } from './applications.js';
import type { DemoCredentials } from './credentials.js';
import { type DemoClient, demoClient, demoPerson } from './directory.js';
import { demoId } from './ids.js';
import { type DemoSignIn, demoSignIns } from './people.js';

export interface DemoConnection {
  id: InstanceIntegrationId;
  instance: InstanceId;
  configured: boolean;
}

export interface DemoIntegration {
  id: IntegrationId;
  name: string;
  connections: readonly DemoConnection[];
}

export interface DemoSeed {
  createdAt: number;
  instances: readonly { id: InstanceId; name: string }[];
  integrations: readonly DemoIntegration[];
  clients: readonly DemoClient[];
  applications: readonly DemoApplication[];
  /** People with a password. */
  signIns: readonly DemoSignIn[];
}

export interface DemoStore {
  /**
   * One repeatable transaction: plants a missing directory and missing applications, keeps later changes by
   * people, and makes the credentials valid each time.
   */
  plant(seed: DemoSeed, credentials: DemoCredentials): Promise<void>;
  /** Those of these people who have no password. */
  withoutPassword(accountIds: readonly AccountId[]): Promise<AccountId[]>;
  /** Keeps passwords that were set in the meantime. */
  plantPasswords(passwords: readonly { accountId: AccountId; hash: string }[], at: number): Promise<void>;
}

const harborlight = demoId('InstanceId', 'harborlight');
const juniper = demoId('InstanceId', 'juniper');

/** Each is user and worker of Tallowfern, two of them also of another client. */
const wellConnected = Array.from({ length: 3 }, (_, index) => demoPerson('northwind', index));

const clients: readonly DemoClient[] = [
  demoClient(
    {
      key: 'tallowfern',
      name: 'Tallowfern Bakeries',
      instance: harborlight,
      address: {
        address1: '18 Harbour Street',
        address2: 'Suite 400',
        city: 'Portland',
        isoCountryCode: 'US',
        postalCode: '04101',
        zoneCode: 'ME',
      },
      layers: ['Division', 'Department', 'Team'],
      split: [4, 3, 2],
      unitNames: ['Bakeries', 'Logistics', 'Retail', 'Support'],
      places: [
        'Harbour Street Bakery',
        'Mill Road Warehouse',
        'Old Port Shop',
        'South Portland Shop',
        'Head Office',
      ],
      jobTitles: ['Baker', 'Line Cook', 'Shift Lead', 'Driver', 'Store Manager', 'Accountant', 'Cleaner'],
      workers: 500,
      users: 12,
    },
    wellConnected,
  ),
  demoClient(
    {
      key: 'quillmere',
      name: 'Quillmere Logistics',
      instance: harborlight,
      address: {
        address1: null,
        address2: null,
        city: 'Halifax',
        isoCountryCode: 'CA',
        postalCode: null,
        zoneCode: 'NS',
      },
      layers: ['Depot'],
      split: [3],
      unitNames: ['Halifax Depot', 'Truro Depot', 'Moncton Depot'],
      places: ['Halifax', 'Truro'],
      jobTitles: ['Driver', 'Dispatcher', 'Mechanic'],
      workers: 40,
      users: 5,
    },
    wellConnected.slice(0, 1),
  ),
  demoClient(
    {
      key: 'ostrander',
      name: 'Ostrander Clinics',
      instance: juniper,
      address: {
        address1: '5 Chapel Hill',
        address2: null,
        city: 'Utrecht',
        isoCountryCode: 'NL',
        postalCode: '3511 AB',
        zoneCode: null,
      },
      layers: ['Clinic', 'Ward'],
      split: [2, 3],
      unitNames: ['North Clinic', 'South Clinic'],
      places: ['North Clinic', 'South Clinic'],
      jobTitles: ['Nurse', 'Physician', 'Receptionist'],
      workers: 60,
      users: 6,
    },
    wellConnected.slice(1, 2),
  ),
];

/** Identical in every demo environment, including ids. All names are invented. */
export const demoSeed: DemoSeed = {
  createdAt: Date.UTC(2026, 5, 30, 9, 0, 0),
  instances: [
    { id: harborlight, name: 'Harborlight Payroll' },
    { id: juniper, name: 'Juniper People' },
  ],
  integrations: [
    {
      id: demoId('IntegrationId', 'brightledger'),
      name: 'Brightledger Accounting',
      connections: [
        {
          id: demoId('InstanceIntegrationId', 'brightledger-harborlight'),
          instance: harborlight,
          configured: true,
        },
        { id: demoId('InstanceIntegrationId', 'brightledger-juniper'), instance: juniper, configured: false },
      ],
    },
    {
      id: demoId('IntegrationId', 'shiftwise'),
      name: 'Shiftwise Rostering',
      connections: [
        { id: demoId('InstanceIntegrationId', 'shiftwise-juniper'), instance: juniper, configured: true },
      ],
    },
  ],
  clients,
  applications: demoApplications({ harborlight, juniper }),
  signIns: demoSignIns(clients),
};

/** The seed of a demo whose own application runs at this address. */
export function demoSeedWith(demoAppUrl: string): DemoSeed {
  return { ...demoSeed, applications: demoApplications({ harborlight, juniper }, demoAppUrl) };
}

/** The instances where its own application signs people in, each with the path that it returns to. */
export function demoAppInstances(): { id: InstanceId; name: string; callbackPath: string }[] {
  const { redirectUris = [] } = demoSeed.applications.find(({ id }) => id === demoAppId) ?? {};
  return demoSeed.instances.flatMap(({ id, name }) => {
    const uri = redirectUris.find(({ instanceId }) => instanceId === id)?.uri;
    return uri === undefined ? [] : [{ id, name, callbackPath: new URL(uri).pathname }];
  });
}
