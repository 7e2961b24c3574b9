import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { ApplicationType } from '../../../../generated/proto/integration/operator/v1/applications.js';
import { InstanceIntegrationStatus } from '../../../../generated/proto/integration/operator/v1/connections.js';
import { OperatorServiceService as operator } from '../../../../generated/proto/integration/operator/v1/operator.js';
import { CallerRole } from '../../../../generated/proto/integration/operator/v1/service_tokens.js';
import { SigningAlgorithm } from '../../../../generated/proto/integration/operator/v1/signing_keys.js';
import { WebhookServiceService as webhooks } from '../../../../generated/proto/integration/webhooks/v1/webhooks.js';
import type { AuditMac } from '../../../../src/domain/operator/audit-chain.js';
import { DueSignal } from '../../../../src/domain/webhooks/sending/due-signal.js';
import type { ManagedSubscription } from '../../../../src/domain/webhooks/subscriptions/rows.js';
import { SealedBox } from '../../../../src/keys/sealed-box.js';
import type { CallOptions } from '../../../../src/rpc/call-metadata.js';
import type { Caller } from '../../../../src/rpc/callers.js';
import { operatorService } from '../../../../src/rpc/domain-server/operator/index.js';
import { webhookService } from '../../../../src/rpc/domain-server/webhooks/index.js';
import { withAuditChains } from '../../../../src/store/adapters/operator/audit-chains.js';
import { auditRows } from '../../../../src/store/adapters/operator/audit-events.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { signOnUnitOfWork } from '../../../../src/store/adapters/sign-on/unit-of-work.js';
import { sendingUnitOfWork } from '../../../../src/store/adapters/webhooks/sending/unit-of-work.js';
import { numberedKeys, policy } from '../../../domain/sign-on/keys/rig.js';
import { plantDelivery } from '../../../store/adapters/webhooks/subscriptions/rig.js';
import { plantInstance } from '../../../store/rows.js';
import { type DatabaseUnderTest, describeEachDatabase } from '../../../support/databases.js';
import { rpcRigs } from '../../rig.js';

const services = { operator, webhooks };

type Name = keyof typeof operator | keyof typeof webhooks;

/** What a caller leaves out. */
const unset = {
  redirectUris: [],
  allowedScopes: [],
  allowedGrantTypes: [],
  postLogoutRedirectUris: [],
  firstParty: false,
  signOutEndsTokens: false,
  idTokenAlgorithm: SigningAlgorithm.UNSPECIFIED,
  algorithms: [],
  eventTypes: [],
  clientIds: [],
  description: '',
  includeDelivered: false,
};

/** Parts of addresses in which people put secrets of theirs, and texts that a record has no use for. */
const UNTOLD_VALUES = ['hooks-secret', 'Nightly', 'Payroll', 'Renamed'];

// biome-ignore lint/suspicious/noExplicitAny: each answer is looked into by its own step.
type Answer = any;

/** The type and subject of the record, and what it reports the change. */
type Expected = [type: string, subject: string, attributes?: Record<string, unknown>];

describeEachDatabase('the audit log of writes by operators', (under) => {
  const rigs = rpcRigs();

  test('every writing method leaves a record: token, person, action, subject and names of fields', async () => {
    const { call, records, database } = await servicesOf(under, rigs);
    const done = new Set<string>();
    const step = async (name: Name, request: object, ...expected: Expected[]): Promise<Answer> => {
      const answer = await call(name, request);
      done.add(name);
      const found = await records();
      const told = expected.map(([type, subject, attributes = {}]) =>
        expect.objectContaining({
          type,
          outcome: 'succeeded',
          actor: { type: 'service_token', id: 'tok_one' },
          subject: { type: subject, id: expect.stringMatching(/^[\w-]+$/) },
          requestId: 'request-1',
          attributes: expect.objectContaining({ ...attributes, on_behalf_of: 'admin-7' }),
        }),
      );
      expect({ name, found }).toEqual({ name, found: expect.arrayContaining(told) });
      expect(found).toHaveLength(told.length);
      const [successor] = found.flatMap(({ attributes }) => attributes.successor_id ?? []);
      if (successor !== undefined) {
        expect(found.map(({ subject }) => subject?.id)).toContain(successor);
      }
      if (name.startsWith('update')) {
        expect(found[0]?.attributes.fields).toMatch(/^[a-z_]+( [a-z_]+)*$/);
      }
      return answer;
    };
    const instance = await plantInstance(database);

    const { application } = await step(
      'createApplication',
      { name: 'Portal', type: ApplicationType.CONFIDENTIAL },
      ['application.created', 'application'],
    );
    const applicationId = application.id;
    await step('updateApplication', { applicationId, name: 'Renamed', firstParty: true }, [
      'application.updated',
      'application',
      { fields: 'first_party name' },
    ]);
    await step('disableApplication', { applicationId }, [
      'application.disabled',
      'application',
      { fields: 'enabled' },
    ]);
    await step('enableApplication', { applicationId }, [
      'application.enabled',
      'application',
      { fields: 'enabled' },
    ]);
    const redirectUri = { uri: 'https://portal.example.com/back', instanceId: instance.id };
    await step('addRedirectUri', { applicationId, redirectUri }, [
      'application.redirect_uri_added',
      'application',
      { uri: redirectUri.uri, instance_id: instance.id },
    ]);
    await step('removeRedirectUri', { applicationId, uri: redirectUri.uri }, [
      'application.redirect_uri_removed',
      'application',
      { uri: redirectUri.uri },
    ]);
    const rotated = await step('rotateApplicationSecret', { applicationId }, [
      'application.secret_rotated',
      'application',
      { secret_id: expect.any(String) },
    ]);
    const secretId = rotated.application.secrets[0].id;
    await step('revokeApplicationSecret', { applicationId, secretId }, [
      'application.secret_revoked',
      'application',
      { secret_id: secretId },
    ]);

    const { integration } = await step('createIntegration', { name: 'Brightledger' }, [
      'integration.created',
      'integration',
    ]);
    const integrationId = integration.id;
    await step('updateIntegration', { integrationId, name: 'Renamed' }, [
      'integration.updated',
      'integration',
      { fields: 'name' },
    ]);
    const both = { integration_id: integrationId, instance_id: instance.id };
    const { instanceIntegration } = await step(
      'connectInstance',
      { integrationId, instanceId: instance.id },
      ['instance_integration.connected', 'instance_integration', both],
    );
    const instanceIntegrationId = instanceIntegration.id;
    await step(
      'configureInstanceIntegration',
      { instanceIntegrationId, status: InstanceIntegrationStatus.CONFIGURED },
      ['instance_integration.configured', 'instance_integration', both],
    );

    const { apiKey } = await step('createApiKey', { integrationId, label: 'Nightly' }, [
      'api_key.created',
      'api_key',
      { integration_id: integrationId },
    ]);
    const apiKeyId = apiKey.id;
    await step('updateApiKey', { apiKeyId, label: 'Renamed' }, [
      'api_key.updated',
      'api_key',
      { fields: 'label' },
    ]);
    await step(
      'rotateApiKey',
      { apiKeyId },
      ['api_key.rotated', 'api_key', { successor_id: expect.any(String) }],
      ['api_key.created', 'api_key', { predecessor_id: apiKeyId }],
    );
    await step('revokeApiKey', { apiKeyId }, ['api_key.revoked', 'api_key']);

    const { serviceToken } = await step(
      'createServiceToken',
      { role: CallerRole.SUPPORT, label: 'Nightly' },
      ['service_token.created', 'service_token', { role: 'support' }],
    );
    const serviceTokenId = serviceToken.id;
    await step(
      'rotateServiceToken',
      { serviceTokenId },
      ['service_token.rotated', 'service_token', { successor_id: expect.any(String) }],
      ['service_token.created', 'service_token', { predecessor_id: serviceTokenId }],
    );
    await step('revokeServiceToken', { serviceTokenId }, ['service_token.revoked', 'service_token']);

    const holder = { node: 'node-1', key_ids: JSON.stringify(['ek_1', 'ek_2']), used_id: null };
    await database.write((writer) =>
      writer
        .insertInto('encryption_key_holders')
        .values({ ...holder, seen_at: Date.now() })
        .execute(),
    );
    await step('activateEncryptionKey', { keyId: 'ek_1' }, ['encryption_key.activated', 'encryption_key']);
    await step('activateEncryptionKey', { keyId: 'ek_2' }, ['encryption_key.activated', 'encryption_key']);
    await step('retireEncryptionKey', { keyId: 'ek_1' }, ['encryption_key.retired', 'encryption_key']);
    await step(
      'rotateSigningKeys',
      { algorithms: [SigningAlgorithm.ES256] },
      ['signing_key.published', 'signing_key', { algorithm: 'ES256' }],
      ['signing_key.activated', 'signing_key', { algorithm: 'ES256' }],
    );

    const url = 'https://hooks.example.com/hooks-secret';
    const { subscription } = await step(
      'createSubscription',
      { instanceIntegrationId, url, eventTypes: ['user.*'], description: 'Payroll' },
      ['subscription.created', 'subscription', { url_origin: 'https://hooks.example.com' }],
    );
    const subscriptionId = subscription.id;
    await step('updateSubscription', { subscriptionId, description: 'Renamed', url: `${url}/2` }, [
      'subscription.updated',
      'subscription',
      { fields: 'description url' },
    ]);
    await step('rotateSubscriptionSecret', { subscriptionId }, [
      'subscription.secret_rotated',
      'subscription',
      { secret_id: expect.any(String) },
    ]);
    await step('testSubscription', { subscriptionId }, ['subscription.tested', 'subscription']);
    const rows = operatorUnitOfWork(database).rows;
    const managed = (await rows.subscriptions.find(subscriptionId)) as ManagedSubscription;
    const deliveryId = await plantDelivery(database, managed, { status: 'DELIVERED', ended_at: 1 });
    await step('resendDelivery', { deliveryId }, [
      'delivery.resent',
      'delivery',
      { subscription_id: subscriptionId, delivery_id: expect.any(String) },
    ]);
    const waiting = { status: 'PENDING' as const, attempts_begun: 1, next_attempt_at: Date.now() + 60_000 };
    const pendingId = await plantDelivery(database, managed, waiting);
    const begun = { subscription_id: subscriptionId, attempts_begun: '1' };
    await step('retryDelivery', { deliveryId: pendingId }, ['delivery.retried', 'delivery', begun]);
    await step('giveUpDelivery', { deliveryId: pendingId }, ['delivery.given_up', 'delivery', begun]);
    await step(
      'replayEvents',
      { subscriptionId, since: new Date(1) },
      ['events.replayed', 'subscription', { include_delivered: 'false', done: 'true' }],
      ['events.replay_begun', 'subscription', { include_delivered: 'false' }],
    );
    await step('disableSubscription', { subscriptionId }, ['subscription.disabled', 'subscription']);
    await step('enableSubscription', { subscriptionId }, ['subscription.enabled', 'subscription']);
    await step('deleteSubscription', { subscriptionId }, ['subscription.deleted', 'subscription']);
    await step('disconnectInstance', { instanceIntegrationId }, [
      'instance_integration.disconnected',
      'instance_integration',
      both,
    ]);

    const writing = Object.values(services)
      .flatMap((methods) => Object.keys(methods))
      .filter((name) => !/^(get|list|tail|verify)[A-Z]/.test(name));
    expect([...done].sort()).toEqual(writing.sort());
    const text = JSON.stringify(
      await auditRows(database.reader).page({ after: undefined, limit: 500 }, { types: [] }),
    );
    expect(UNTOLD_VALUES.filter((value) => text.includes(value))).toEqual([]);
  });
});

/** Both services over a new database, called by the holder of a token that may do everything. */
async function servicesOf(under: DatabaseUnderTest, rigs: ReturnType<typeof rpcRigs>) {
  const bare = await under.openMigrated();
  const mac: AuditMac = (bytes) => createHmac('sha256', 'key').update(bytes).digest();
  const database = withAuditChains(bare, () => mac);
  const clock = Date.now;
  const dependencies = {
    environment: 'live' as const,
    clock,
  };
  const rig = await rigs.start(
    [
      operatorService({
        ...dependencies,
        unitOfWork: operatorUnitOfWork(database),
        signingKeys: {
          unitOfWork: signOnUnitOfWork({ ...database, clock }),
          maker: numberedKeys(),
          policy,
          clock,
          changed: async () => undefined,
        },
        auditMac: mac,
        encryptionKeys: { lookSoon: () => undefined },
      }),
      webhookService({
        ...dependencies,
        unitOfWork: operatorUnitOfWork(database),
        eventsMs: Number.MAX_SAFE_INTEGER,
        secrets: new SealedBox(randomBytes(32)),
        addressGuard: { refusalOf: async () => undefined },
        draining: new AbortController().signal,
        sending: { unitOfWork: sendingUnitOfWork(database), deliveriesDue: new DueSignal() },
      }),
    ],
    { authenticate: (token) => ({ caller: token as Caller, tokenId: 'tok_one' }) },
  );
  const seen = new Set<string>();
  return {
    database: bare,
    call: async (name: Name, request: object): Promise<Answer> => {
      const [methods] = Object.values(services).filter((one) => name in one) as [typeof operator];
      const right = /(Signing|Encryption)Key/.test(name) ? 'key_custodian' : 'operator';
      const client = rig.channel(right).clientOf(methods) as unknown as Record<
        string,
        (request: object, options: CallOptions) => Promise<Answer> | AsyncIterable<Answer>
      >;
      const options = { requestId: 'request-1', deadlineMs: 20_000, onBehalfOf: 'admin-7' };
      const answer = client[name]?.({ ...unset, ...request }, options);
      if (answer && Symbol.asyncIterator in answer) {
        for await (const _ of answer) {
          // To its end.
        }
      }
      return answer;
    },
    /** Those since it was asked last. */
    records: async () => {
      const all = await auditRows(bare.reader).page({ after: undefined, limit: 500 }, { types: [] });
      const fresh = all.filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) {
        seen.add(id);
      }
      return fresh;
    },
  };
}
