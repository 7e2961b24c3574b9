import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileRegistry, type DescMessage, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import type { InstanceId } from '../../generated/ids.js';
import {
  type Account,
  type AccountEntry,
  AccountNoticeKind,
  AccountStatus,
  type GetAccountRequest,
} from '../../generated/proto/integration/platform/v1/accounts.js';
import { PlatformServiceService as platform } from '../../generated/proto/integration/platform/v1/platform.js';
import { type User, UserStatus } from '../../generated/proto/integration/platform/v1/users.js';
import {
  type Delivery,
  DeliveryOrigin,
  DeliveryStatus,
} from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import type { WebhookEvent } from '../../generated/proto/integration/webhooks/v1/events.js';
import { WebhookServiceService as webhooks } from '../../generated/proto/integration/webhooks/v1/webhooks.js';
import { personalAnswers } from '../../generated/proto/rights.js';
import { packageRoot } from '../../src/config/package.js';
import { ServiceTokenRefusal } from '../../src/domain/access/service-tokens.js';
import type { Observation } from '../../src/domain/operator/audit.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';
import { isWatched } from '../../src/rpc/call-audit.js';
import { type Authenticate, type Caller, callersOf } from '../../src/rpc/callers.js';
import { serve } from '../../src/rpc/handlers.js';
import { signalled } from '../support/signalled.js';
import { refusalOf, rpcRigs } from './rig.js';

const CALL = { requestId: 'request-1', deadlineMs: 20_000 };

const user: User = {
  id: 'usr_1',
  clientId: 'cli_1',
  accountId: 'acc_1',
  email: 'ada@example.com',
  status: UserStatus.ACTIVE,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  version: 'v1',
};

const account: Account = {
  ...{ id: 'acc_1', email: user.email, emailVerified: true, workerProfileId: '', version: 'v1' },
  ...{ status: AccountStatus.ENABLED, pendingEmails: [], createdAt: new Date(0), updatedAt: new Date(0) },
};

const entry: AccountEntry = {
  id: 'acc_1',
  email: 'ada@example.com',
  emailVerified: true,
  status: AccountStatus.ENABLED,
  createdAt: new Date(0),
};

const event: WebhookEvent = {
  ...{ id: 'evt_1', type: 'user.updated', entityType: 'user', entityId: 'usr_1' },
  ...{ instanceId: 'ins_1', clientId: 'cli_1', occurredAt: new Date(0) },
};

const delivery: Delivery = {
  ...{ id: 'whd_1', subscriptionId: 'whs_1', instanceIntegrationId: 'iin_1', eventId: 'evt_1' },
  ...{ eventType: 'user.updated', origin: DeliveryOrigin.EVENT, status: DeliveryStatus.PENDING },
  ...{ attemptsBegun: 0, createdAt: new Date(0) },
};

describe('the audit log learns of calls', () => {
  const rigs = rpcRigs();

  /**
   * A server that knows the token `right` as one of that right, and `limited` as one of the platform for one
   * instance; `expired` and `revoked` are invalid.
   */
  async function serving({ isDown = false, isOpenEnded = false } = {}) {
    const observed: Observation[] = [];
    const recorded: Observation[] = [];
    const revoked = new Set(['revoked']);
    const { told: heard, tell } = signalled();
    const authenticate: Authenticate = (token) => {
      if (revoked.has(token)) {
        throw new ServiceTokenRefusal('revoked', `tok_${token}`);
      }
      if (token === 'expired') {
        throw new ServiceTokenRefusal(token, `tok_${token}`);
      }
      if (token === 'unknown') {
        throw new ServiceTokenRefusal('unknown');
      }
      if (token === 'away') {
        throw new ServiceError(ErrorCode.UNAVAILABLE, 'The database is away.');
      }
      const tokenId = `tok_${token}`;
      return token === 'limited'
        ? { caller: 'platform', tokenId, instanceId: 'ins_1' as InstanceId }
        : { caller: token as Caller, tokenId };
    };
    const rig = await rigs.start(
      [
        serve(platform, {
          getUser: async ({ userId }) => {
            if (userId !== user.id) {
              throw new ServiceError(ErrorCode.USER_NOT_FOUND, 'There is no such user.');
            }
            return { user };
          },
          listUsers: async () => ({ users: [user], nextPageToken: '' }),
          getAccount: async ({ key }) => {
            if (key?.value !== user.email) {
              throw new ServiceError(ErrorCode.ACCOUNT_NOT_FOUND, 'There is no such account.');
            }
            return { account, contexts: [], formerContexts: [] };
          },
          listAccountNotices: async ({ pageSize }) => ({
            notices: ['acc_1', 'acc_1', 'acc_2'].slice(0, pageSize).map((accountId, index) => ({
              ...{ id: `not_${index}`, kind: AccountNoticeKind.EMAIL_CHANGED, accountId },
              ...{ email: user.email, occurredAt: new Date(0) },
            })),
            nextPageToken: '',
          }),
          listAccounts: async ({ emailPrefix }) => ({
            accounts: [entry, { ...entry, id: 'acc_2' }].slice(0, emailPrefix === 'a' ? 2 : 1),
            nextPageToken: '',
          }),
          listInstances: async () => ({ instances: [], nextPageToken: '' }),
        }),
        serve(webhooks, {
          getEvent: async () => ({ event, body: Buffer.from('{}') }),
          getDelivery: async ({ deliveryId: id }) => ({
            delivery: { ...delivery, id },
            attempts: [],
            body: Buffer.from('{}'),
            event,
          }),
          tailDeliveries: async function* (_, { signal }) {
            yield { skipped: 1 } as never;
            if (isOpenEnded) {
              await once(signal, 'abort');
            }
          },
        }),
      ],
      {
        authenticate,
        address: '127.0.0.1:0',
        limits: { recheckTokensMs: 10 },
        audit: {
          observe: (observation) => {
            observed.push(observation);
            tell();
          },
          audit: async (observation) => {
            if (isDown) {
              throw new ServiceError(ErrorCode.UNAVAILABLE, 'The database is away.');
            }
            recorded.push(observation);
          },
        },
      },
    );
    return {
      observed,
      recorded,
      /** The first observation. */
      heard,
      revoke: (token: string) => revoked.add(token),
      as: (token: string) => rig.channel(token).clientOf(platform),
      webhooksAs: (token: string) => rig.channel(token).clientOf(webhooks),
    };
  }

  test.each([
    ['an unknown token', 'unknown', { type: 'stranger', id: 'unknown' }, 'unknown'],
    ['an expired token', 'expired', { type: 'service_token', id: 'tok_expired' }, 'expired'],
    ['a revoked token', 'revoked', { type: 'service_token', id: 'tok_revoked' }, 'revoked'],
    ['a token that lacks the right', 'auditor', { type: 'service_token', id: 'tok_auditor' }, 'not_allowed'],
  ])('that are refused for %s', async (_, token, actor, reason) => {
    const { observed, recorded, as } = await serving();
    await refusalOf(as(token).getUser({ userId: user.id }, CALL));
    expect(observed).toEqual([
      {
        type: 'call.refused',
        outcome: 'refused',
        actor: { ...actor, requestId: 'request-1', remoteAddress: '127.0.0.1' },
        subject: { type: 'method', id: platform.getUser.path },
        attributes: { reason },
      },
    ]);
    expect(recorded).toEqual([]);
  });

  const refused = (token: string, method: string, reason: string) => ({
    type: 'call.refused',
    outcome: 'refused',
    actor: {
      ...{ type: 'service_token', id: `tok_${token}` },
      ...{ requestId: 'request-1', remoteAddress: '127.0.0.1' },
    },
    subject: { type: 'method', id: method },
    attributes: { reason },
  });

  test('that are refused because their token is limited to one instance', async () => {
    const { observed, as } = await serving();
    await refusalOf(as('limited').setPassword({ accountId: 'acc_1', password: 'p' }, CALL));
    expect(observed).toEqual([refused('limited', platform.setPassword.path, 'not_allowed')]);
  });

  test.each([
    ['valid', 'limited', 'case-12'],
    ['unknown', 'unknown', undefined],
    ['expired', 'expired', undefined],
  ])('that are refused, naming the person only for a valid token: %s', async (_, token, onBehalfOf) => {
    const { observed, as } = await serving();
    const call = { ...CALL, onBehalfOf: 'case-12' };
    await refusalOf(as(token).setPassword({ accountId: 'acc_1', password: 'p' }, call));
    expect(observed.map(({ actor }) => actor.onBehalfOf)).toEqual([onBehalfOf]);
  });

  test('that end because their token is revoked meanwhile', async () => {
    const { observed, heard, revoke, webhooksAs } = await serving({ isOpenEnded: true });
    const tail = webhooksAs('operator').tailDeliveries({ eventTypes: [] }, CALL)[Symbol.asyncIterator]();
    await tail.next();
    revoke('operator');
    await refusalOf(tail.next());
    await heard;
    expect(observed).toEqual([refused('operator', webhooks.tailDeliveries.path, 'revoked')]);
  });

  test('and not of those that fail for a reason of ours', async () => {
    const { observed, as } = await serving();
    await refusalOf(as('away').getUser({ userId: user.id }, CALL));
    expect(observed).toEqual([]);
  });

  test.each(['operator', 'support'])(
    'with which %s reads of a person, of a client, or of other people',
    async (token) => {
      const { recorded, as } = await serving();
      const client = as(token);
      await client.getUser({ userId: user.id }, { ...CALL, onBehalfOf: 'case-12' });
      await client.listUsers({ clientId: 'cli_1', statuses: [], pageSize: 0, pageToken: '' }, CALL);
      await client.getAccount({ key: { $case: 'email', value: user.email } }, CALL);
      const actor = {
        type: 'service_token',
        id: `tok_${token}`,
        requestId: 'request-1',
        remoteAddress: '127.0.0.1',
      };
      const read = { type: 'personal_data.read', outcome: 'succeeded', actor };
      const method = (name: 'getUser' | 'listUsers' | 'getAccount') => ({ method: platform[name].path });
      expect(recorded).toEqual([
        {
          ...read,
          actor: { ...actor, onBehalfOf: 'case-12' },
          subject: { type: 'user', id: 'usr_1' },
          attributes: method('getUser'),
        },
        { ...read, subject: { type: 'client', id: 'cli_1' }, attributes: method('listUsers') },
        { ...read, subject: { type: 'account', id: 'acc_1' }, attributes: method('getAccount') },
      ]);
      expect(JSON.stringify(recorded)).not.toContain(user.email);
    },
  );

  test('with which support reads an event or a delivery, about the person whose data it has', async () => {
    const { recorded, webhooksAs } = await serving();
    const client = webhooksAs('support');
    await client.getEvent({ eventId: 'evt_1' }, CALL);
    await client.getDelivery({ deliveryId: 'whd_1' }, CALL);
    const subject = { type: 'user', id: 'usr_1' };
    expect(recorded).toMatchObject([
      { subject, attributes: { method: webhooks.getEvent.path, event_id: 'evt_1' } },
      { subject, attributes: { method: webhooks.getDelivery.path, delivery_id: 'whd_1' } },
    ]);
  });

  test('with which support looks for people by address, about the person if there is one only', async () => {
    const { recorded, as } = await serving();
    const list = (emailPrefix: string) =>
      as('support').listAccounts({ emailPrefix, pageSize: 0, pageToken: '' }, CALL);
    await list('ada@');
    await list('a');
    expect(recorded.map(({ subject }) => subject)).toEqual([{ type: 'account', id: 'acc_1' }, null]);
  });

  test('with which an operator lists notices, about the person if all are about one', async () => {
    const { recorded, as } = await serving();
    for (const pageSize of [2, 3]) {
      await as('operator').listAccountNotices({ pageSize, pageToken: '' }, CALL);
    }
    expect(recorded.map(({ subject }) => subject)).toEqual([{ type: 'account', id: 'acc_1' }, null]);
  });

  test('with which an operator watches deliveries, at their beginning', async () => {
    const { recorded, webhooksAs } = await serving();
    const request = { subscriptionId: 'sub_1', eventTypes: [] };
    for await (const _ of webhooksAs('operator').tailDeliveries(request, CALL)) {
      expect(recorded).toMatchObject([{ subject: { type: 'subscription', id: 'sub_1' } }]);
    }
    expect(recorded).toHaveLength(1);
  });

  test('with which support looks for a person who does not exist', async () => {
    const { observed, recorded, as } = await serving();
    await refusalOf(as('support').getUser({ userId: 'usr_2' }, CALL));
    expect(observed).toEqual([
      {
        type: 'personal_data.read',
        outcome: 'refused',
        actor: {
          type: 'service_token',
          id: 'tok_support',
          requestId: 'request-1',
          remoteAddress: '127.0.0.1',
        },
        subject: { type: 'user', id: 'usr_2' },
        attributes: { method: platform.getUser.path, reason: 'not_found' },
      },
    ]);
    expect(recorded).toEqual([]);
  });

  test('with which support looks for an account that does not exist, by its id', async () => {
    const { observed, as } = await serving();
    const search = (key: GetAccountRequest['key']) => refusalOf(as('support').getAccount({ key }, CALL));
    await search({ $case: 'accountId', value: 'acc_2' });
    await search({ $case: 'email', value: 'bea@example.com' });
    expect(observed.map(({ subject }) => subject)).toEqual([{ type: 'account', id: 'acc_2' }, null]);
  });

  test('and not of reads without personal data, or by the platform', async () => {
    const { observed, recorded, as } = await serving();
    await as('operator').listInstances({ pageSize: 0, pageToken: '' }, CALL);
    await as('platform').getUser({ userId: user.id }, CALL);
    await refusalOf(as('platform').getUser({ userId: 'usr_2' }, CALL));
    expect([observed, recorded]).toEqual([[], []]);
  });

  test('and no answer is sent if its read cannot be recorded', async () => {
    const { as, webhooksAs } = await serving({ isDown: true });
    const refused = await refusalOf(as('support').getUser({ userId: user.id }, CALL));
    expect(refused.code).toBe(ErrorCode.UNAVAILABLE);
    const tail = webhooksAs('support').tailDeliveries({ eventTypes: [] }, CALL)[Symbol.asyncIterator]();
    expect((await refusalOf(tail.next())).code).toBe(ErrorCode.UNAVAILABLE);
    await expect(as('platform').getUser({ userId: user.id }, CALL)).resolves.toMatchObject({
      user: { id: 'usr_1' },
    });
  });
});

describe('personal data', () => {
  /** Names of fields with personal data; bodies are those of events and of receivers' answers. */
  const TELLING = /^(.*email|phone|(first|last|full)_name|remote_address|session_id|body|response_start)$/;

  const registry = createFileRegistry(
    fromBinary(FileDescriptorSetSchema, readFileSync(join(packageRoot, 'generated/proto/descriptors.binpb'))),
  );
  const methods = [...registry].flatMap((one) => (one.kind === 'service' ? one.methods : []));

  function tellingFields(message: DescMessage, seen = new Set<DescMessage>()): string[] {
    if (seen.has(message)) {
      return [];
    }
    seen.add(message);
    return message.fields.flatMap((field) => [
      ...(field.fieldKind !== 'message' && TELLING.test(field.name) ? [`${message.name}.${field.name}`] : []),
      ...(field.message ? tellingFields(field.message, seen) : []),
    ]);
  }

  const watched = methods
    .map((method) => ({ path: `/${method.parent.typeName}/${method.name}`, output: method.output }))
    .filter(({ path }) => callersOf(path).some(isWatched));

  test('is declared in the contract wherever operators, support or auditors could read it', () => {
    const telling = watched.filter(({ output }) => tellingFields(output).length > 0);
    expect(telling.map(({ path }) => path).sort()).toEqual(
      watched
        .map(({ path }) => path)
        .filter((path) => personalAnswers.has(path))
        .sort(),
    );
    expect(telling.map(({ path }) => path.split('/').at(-1)).sort()).toEqual([
      'GetAccount',
      'GetDelivery',
      'GetEvent',
      'GetUser',
      'GetWorker',
      'ListAccountAccess',
      'ListAccountNotices',
      'ListAccounts',
      'ListAuditEvents',
      'ListAuditRecords',
      'ListIntegrationNotices',
      'ListUsers',
      'ListWorkers',
      'TailDeliveries',
    ]);
  });
});
