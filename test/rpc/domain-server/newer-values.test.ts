import { describe, expect, test } from '@jest/globals';
import { KeyStatus } from '../../../generated/proto/integration/operator/v1/api_keys.js';
import { ApplicationType } from '../../../generated/proto/integration/operator/v1/applications.js';
import { AuditOutcome } from '../../../generated/proto/integration/operator/v1/audit.js';
import { InstanceIntegrationStatus } from '../../../generated/proto/integration/operator/v1/connections.js';
import { OperatorServiceService } from '../../../generated/proto/integration/operator/v1/operator.js';
import { SigningAlgorithm } from '../../../generated/proto/integration/operator/v1/signing_keys.js';
import { SubscriptionStatus } from '../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { WebhookServiceService } from '../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { operatorService } from '../../../src/rpc/domain-server/operator/index.js';
import type { OperatorDependencies } from '../../../src/rpc/domain-server/operator/write.js';
import type { WebhookDependencies } from '../../../src/rpc/domain-server/webhooks/dependencies.js';
import { webhookService } from '../../../src/rpc/domain-server/webhooks/index.js';
import { CALL, refusalOf, rpcRigs, TOKENS } from '../rig.js';

const PAGE = { pageSize: 0, pageToken: '' };

describe('a value that only a newer release knows', () => {
  const rigs = rpcRigs();

  async function clients() {
    const all = { page: async () => [] };
    const rows = { apiKeys: all, serviceTokens: all, instanceIntegrations: all, auditEvents: all };
    const unitOfWork = {
      rows: { ...rows, subscriptions: all },
      run: (work: (changes: object) => Promise<unknown>) => work({}),
    };
    const dependencies = { unitOfWork, clock: Date.now, environment: 'demo' };
    const rig = await rigs.start([
      operatorService(dependencies as unknown as OperatorDependencies),
      webhookService(dependencies as unknown as WebhookDependencies),
    ]);
    const channel = rig.channel(TOKENS.operator);
    return {
      operator: channel.clientOf(OperatorServiceService),
      webhooks: channel.clientOf(WebhookServiceService),
    };
  }

  type Clients = Awaited<ReturnType<typeof clients>>;

  test.each<[string, string, (clients: Clients) => Promise<unknown>]>([
    [
      'a list of API keys',
      'status',
      ({ operator }) => operator.listApiKeys({ ...PAGE, status: KeyStatus.UNRECOGNIZED }, CALL),
    ],
    [
      'a list of service tokens',
      'status',
      ({ operator }) => operator.listServiceTokens({ ...PAGE, status: KeyStatus.UNRECOGNIZED }, CALL),
    ],
    [
      'a list of instance integrations',
      'status',
      ({ operator }) =>
        operator.listInstanceIntegrations({ ...PAGE, status: InstanceIntegrationStatus.UNRECOGNIZED }, CALL),
    ],
    [
      'a list of audit events',
      'outcome',
      ({ operator }) =>
        operator.listAuditEvents({ ...PAGE, types: [], outcome: AuditOutcome.UNRECOGNIZED }, CALL),
    ],
    [
      'a list of subscriptions',
      'status',
      ({ webhooks }) =>
        webhooks.listSubscriptions({ ...PAGE, status: SubscriptionStatus.UNRECOGNIZED }, CALL),
    ],
    [
      'a new application',
      'id_token_algorithm',
      ({ operator }) =>
        operator.createApplication(
          {
            ...{ name: 'Rota', type: ApplicationType.PUBLIC, allowedScopes: [], allowedGrantTypes: [] },
            ...{ redirectUris: [], postLogoutRedirectUris: [], firstParty: false, signOutEndsTokens: false },
            idTokenAlgorithm: SigningAlgorithm.UNRECOGNIZED,
          },
          CALL,
        ),
    ],
    [
      'a change of an application',
      'id_token_algorithm',
      ({ operator }) =>
        operator.updateApplication(
          {
            ...{ applicationId: 'app_1', allowedScopes: [], allowedGrantTypes: [] },
            ...{ postLogoutRedirectUris: [], updateMask: undefined },
            idTokenAlgorithm: SigningAlgorithm.UNRECOGNIZED,
          },
          CALL,
        ),
    ],
  ])('is refused in %s', async (_, path, list) => {
    const { fieldViolations } = await refusalOf(list(await clients()));
    expect(fieldViolations).toEqual([
      { path, message: 'must be a value that this version of the service knows' },
    ]);
  });
});
