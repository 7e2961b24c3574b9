import type {
  AccountId,
  ApplicationId,
  InstanceId,
  InstanceIntegrationId,
  IntegrationId,
} from '../../../generated/ids.js';
import { newApiKey } from '../../identifiers/api-key.js';
import { newClientSecret } from '../../identifiers/client-secret.js';
import {
  newServiceToken,
  SERVICE_TOKEN_KINDS,
  type ServiceTokenKind,
} from '../../identifiers/service-token.js';
import { toAddress } from '../platform/addresses.js';
import { type DemoApplication, demoAppId, demoApplications } from './applications.js';
import { type DemoClient, type DemoPerson, demoClient, demoPerson } from './directory.js';
import { demoId } from './ids.js';

interface DemoConnection {
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
   * One repeatable transaction: inserts the directory, applications and credentials that are missing, and
   * keeps what people have changed since.
   */
  seed(seed: DemoSeed, credentials: DemoCredentials): Promise<void>;
  /** Those of these people who have no password. */
  withoutPassword(accountIds: readonly AccountId[]): Promise<AccountId[]>;
  /** Keeps passwords that were set in the meantime. */
  seedPasswords(passwords: readonly { accountId: AccountId; hash: string }[], at: number): Promise<void>;
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
      address: toAddress({
        ...{ address1: '18 Harbour Street', address2: 'Suite 400' },
        ...{ city: 'Portland', isoCountryCode: 'US', postalCode: '04101', zoneCode: 'ME' },
      }),
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
      address: toAddress({ city: 'Halifax', isoCountryCode: 'CA', zoneCode: 'NS' }),
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
      address: toAddress({
        ...{ address1: '5 Chapel Hill', city: 'Utrecht', isoCountryCode: 'NL', postalCode: '3511 AB' },
      }),
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
  get signIns() {
    return demoSignIns(clients);
  },
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

/** Shared by all people of the demo, and easy to remember. It works in a demo only. */
export const DEMO_PASSWORD = 'correct-horse-demo';

/** A person to sign in as, and what the sign-in shows. */
interface DemoSignIn {
  person: DemoPerson;
  note: string;
}

/** One person for each case, the simplest first, including one who may not sign in. */
function demoSignIns([tallowfern, , ostrander]: readonly DemoClient[]): DemoSignIn[] {
  const user = (client: DemoClient | undefined, index: number) => personOf(client?.users[index]);
  const worker = (client: DemoClient | undefined, index: number) => personOf(client?.workers[index]);
  return [
    { person: user(tallowfern, 5), note: 'user of Tallowfern on Harborlight; no access to Juniper' },
    { person: user(tallowfern, 7), note: 'invited user of Tallowfern; the first sign-in makes it ACTIVE' },
    { person: user(tallowfern, 3), note: 'disabled user of Tallowfern; may not sign in' },
    { person: worker(tallowfern, 3), note: 'worker of Tallowfern only' },
    { person: user(tallowfern, 2), note: 'invited user and worker of Tallowfern; chooses one' },
    {
      person: user(tallowfern, 0),
      note: 'user and worker of Tallowfern and of Quillmere; chooses one of four',
    },
    {
      person: user(tallowfern, 1),
      note: 'user and worker of Tallowfern on Harborlight, and of Ostrander on Juniper',
    },
    { person: user(ostrander, 1), note: 'user of Ostrander on Juniper; no access to Harborlight' },
  ];
}

function personOf(member: { person: DemoPerson } | undefined): DemoPerson {
  if (!member) {
    throw new Error('The demo has fewer people than are to sign in.');
  }
  return member.person;
}

/** The secrets of a demo environment: made at its first start, kept in demo.json. */
export interface DemoCredentials {
  serviceTokens: Record<ServiceTokenKind, string>;
  apiKeys: Record<IntegrationId, string>;
  clientSecrets: Record<ApplicationId, string>;
}

/** Valid credentials of an earlier start. */
export type KeptCredentials = { readonly [Kind in keyof DemoCredentials]?: Partial<DemoCredentials[Kind]> };

/** The kept credentials, and new ones for those that are missing. */
export function demoCredentials(seed: DemoSeed, kept: KeptCredentials = {}): DemoCredentials {
  const { serviceTokens = {}, apiKeys = {}, clientSecrets = {} } = kept;
  return {
    serviceTokens: Object.fromEntries(
      SERVICE_TOKEN_KINDS.map((kind) => [kind, serviceTokens[kind] ?? newServiceToken(kind, 'demo')]),
    ) as DemoCredentials['serviceTokens'],
    apiKeys: Object.fromEntries(seed.integrations.map(({ id }) => [id, apiKeys[id] ?? newApiKey('demo')])),
    clientSecrets: Object.fromEntries(
      seed.applications
        .filter(({ type }) => type === 'confidential')
        .map(({ id }) => [id, clientSecrets[id] ?? newClientSecret('demo')]),
    ),
  };
}
