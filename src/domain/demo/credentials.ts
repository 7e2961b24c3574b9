import type { ApplicationId, IntegrationId } from '../../../generated/ids.js';
import { newApiKey } from '../../identifiers/api-key.js';
import { newClientSecret } from '../../identifiers/client-secret.js';
import {
  newServiceToken,
  type ServiceTokenKind,
  serviceTokenKinds,
} from '../../identifiers/service-token.js';
import { confidentialIds } from './applications.js';
import type { DemoSeed } from './seed.js';

/** The secrets of a demo environment: made at its first start, kept in demo.json. */
export interface DemoCredentials {
  serviceTokens: Record<ServiceTokenKind, string>;
  /** The API key of each integration. */
  apiKeys: Record<IntegrationId, string>;
  /** The secret of each confidential application. */
  clientSecrets: Record<ApplicationId, string>;
}

/** Valid credentials of an earlier start. */
export type KeptCredentials = { readonly [Kind in keyof DemoCredentials]?: Partial<DemoCredentials[Kind]> };

/** The kept credentials, and new ones for those that are missing. */
export function demoCredentials(seed: DemoSeed, kept: KeptCredentials = {}): DemoCredentials {
  const { serviceTokens = {}, apiKeys = {}, clientSecrets = {} } = kept;
  return {
    serviceTokens: Object.fromEntries(
      serviceTokenKinds.map((kind) => [kind, serviceTokens[kind] ?? newServiceToken(kind, 'demo')]),
    ) as DemoCredentials['serviceTokens'],
    apiKeys: Object.fromEntries(seed.integrations.map(({ id }) => [id, apiKeys[id] ?? newApiKey('demo')])),
    clientSecrets: Object.fromEntries(
      confidentialIds(seed.applications).map((id) => [id, clientSecrets[id] ?? newClientSecret('demo')]),
    ),
  };
}
