import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlatformServiceService } from '../../../generated/proto/integration/platform/v1/platform.js';
import { WebhookServiceService } from '../../../generated/proto/integration/webhooks/v1/webhooks.js';
import type { DemoFile } from '../../../src/cli/demo/demo-file.js';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import { RpcChannel, type RpcClient } from '../../../src/rpc/client.js';
import { eventually } from '../../support/eventually.js';
import type { Scope } from '../harness/scope.js';
import { type StoreKind, settingsOn } from './postgres.js';
import { dataDirIn, type RunningService, startService } from './service.js';
import { makeWorkplace } from './workplace.js';

const AT_ONCE = 16;
const DRAIN_LIMIT_MS = 60_000;

const [client] = demoSeed.clients;
const connection = demoSeed.integrations
  .flatMap(({ connections }) => connections)
  .find(({ configured, instance }) => configured && instance === client?.instance);

/** Make events of users, and subscribers. */
export interface WebhookMakers {
  subscribe(urls: readonly string[]): Promise<void>;
  /** So many events, as few writes as there can be: each moves all users to another role. */
  makeEvents(count: number): Promise<void>;
  /** One event, by one write, which gives a user a new first name. Returns the name. */
  makeEvent(): Promise<string>;
  /** Until nothing waits for an attempt any more. */
  drained(): Promise<void>;
}

export interface WebhookService extends WebhookMakers {
  service: RunningService;
}

export async function webhookService(
  scope: Scope,
  {
    users,
    store = 'SQLite',
    settings,
  }: {
    users: number;
    store?: StoreKind | undefined;
    settings?: Record<string, string | undefined> | undefined;
  },
): Promise<WebhookService> {
  const workplace = makeWorkplace(scope);
  const service = await startService(scope, workplace, {
    ...settings,
    ...(await settingsOn(store, scope, workplace)),
  });
  return { service, ...(await makersOfEvents(scope, workplace, { users })) };
}

/** At the address that the demo names, or at another. */
export async function makersOfEvents(
  scope: Scope,
  workplace: string,
  { users, grpcAddress }: { users: number; grpcAddress?: string },
): Promise<WebhookMakers> {
  const demo = JSON.parse(readFileSync(join(dataDirIn(workplace), 'demo.json'), 'utf8')) as DemoFile;
  const clientOver = (token: string) => {
    const channel = new RpcChannel(grpcAddress ?? demo.grpcAddress, token);
    scope.onEnd(() => channel.close());
    return channel;
  };
  const platform = clientOver(demo.platformToken).clientOf(PlatformServiceService);
  const webhooks = clientOver(demo.operatorToken).clientOf(WebhookServiceService);
  const staff = await staffOf(platform, users);
  const subscriptionIds: string[] = [];
  return {
    subscribe: async (urls) => {
      for (const url of urls) {
        const request = {
          instanceIntegrationId: connection?.id ?? '',
          url,
          eventTypes: ['user.updated'],
          clientIds: [],
          description: 'bench',
        };
        const { subscription } = await webhooks.createSubscription(request, call());
        subscriptionIds.push(subscription?.id ?? '');
      }
    },
    makeEvents: async (count) => {
      for (let made = 0; made < count; made += users) {
        await staff.moveAll();
      }
    },
    makeEvent: () => staff.renameNext(),
    drained: async () => {
      for (const subscriptionId of subscriptionIds) {
        const isDrained = async () =>
          (await webhooks.getSubscription({ subscriptionId }, call())).pendingDeliveries === 0;
        await eventually(`no delivery to ${subscriptionId} waits`, isDrained, DRAIN_LIMIT_MS);
      }
    },
  };
}

async function staffOf(platform: RpcClient<PlatformServiceService>, users: number) {
  const clientId = client?.id ?? '';
  const { role } = await platform.createRole({ clientId, name: 'Bench', permissions: ['bench'] }, call());
  let roleId = role?.id ?? '';
  const userIds: string[] = [];
  const create = async () => {
    while (userIds.length < users) {
      const number = userIds.push('') - 1;
      const email = `bench.${number}@example.com`;
      const { user } = await platform.createUser({ clientId, email, roleId, withoutManager: true }, call());
      userIds[number] = user?.id ?? '';
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, create));
  let renamed = 0;
  return {
    moveAll: async () => {
      const permissions = [`bench.${randomUUID()}`];
      const moved = await platform.editRolePermissions(
        { roleId, name: `Bench ${randomUUID()}`, permissions, userIds: [] },
        call(),
      );
      roleId = moved.role?.id ?? '';
    },
    renameNext: async () => {
      const userId = userIds[renamed % users] ?? '';
      renamed += 1;
      const firstName = `Bench ${renamed}`;
      await platform.updateUser({ userId, firstName }, call());
      return firstName;
    },
  };
}

function call() {
  return { requestId: randomUUID(), deadlineMs: 30_000 };
}
