import { createHash } from 'node:crypto';
import type { InstanceId, InstanceIntegrationId, IntegrationId } from '../../../generated/ids.js';
import { type PublicIdKind, type PublicIds, publicIdPrefixes } from '../../../generated/ids.js';
import type { ServiceTokenKind } from '../../identifiers/service-token.js';

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
}

/** The secrets that open one demo environment: made at its first start, kept in its demo.json. */
export interface DemoCredentials {
  serviceTokens: Record<ServiceTokenKind, string>;
  /** The API key of each integration. */
  apiKeys: Record<IntegrationId, string>;
}

export interface DemoStore {
  /**
   * One transaction that can be repeated: adds what of the seed is missing and makes the credentials valid, and changes nothing
   * that is already there.
   */
  plant(seed: DemoSeed, credentials: DemoCredentials): Promise<void>;
}

const harborlight = demoId('InstanceId', 'harborlight');
const juniper = demoId('InstanceId', 'juniper');

/** The same in every demo environment, down to the ids. Names look real and belong to nobody. */
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
};

/** A public id that follows from its name, so that examples and scripts can rely on it. */
function demoId<K extends PublicIdKind>(kind: K, name: string): PublicIds[K] {
  const digest = createHash('sha512').update(`demo:${kind}:${name}`).digest('base64');
  return `${publicIdPrefixes[kind]}_${digest.replace(/[^0-9A-Za-z]/g, '').slice(0, 22)}` as PublicIds[K];
}
