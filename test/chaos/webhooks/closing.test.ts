import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { WebhookServiceService } from '../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import { inNameOf } from '../../../src/domain/unit-of-work.js';
import { newDelivery } from '../../../src/domain/webhooks/subscriptions/rows.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import { operatorUnitOfWork } from '../../../src/store/adapters/operator/unit-of-work.js';
import { openSqlite } from '../../../src/store/dialects/sqlite.js';
import { eventually } from '../../support/eventually.js';
import { roleTokens } from '../../support/role-tokens.js';
import { type ServiceProcess, serviceProcesses } from '../../support/service-process.js';

const services = serviceProcesses();

const PENDING = 20_000;
const ENV = roleTokens;
const OPERATOR = { type: 'operator', id: 'a test' };
const CALL = { requestId: 'closing', deadlineMs: 20_000 };

async function withClient<T>(
  domain: ServiceProcess,
  work: (client: ReturnType<typeof clientOf>) => Promise<T>,
): Promise<T> {
  const channel = new RpcChannel(`127.0.0.1:${domain.settings.GRPC_PORT}`, domain.demo().operatorToken);
  try {
    return await work(clientOf(channel));
  } finally {
    channel.close();
  }
}

const clientOf = (channel: RpcChannel) => channel.clientOf(WebhookServiceService);

/** While the domain is down, so that pending deliveries are not sent. */
async function plantPending({ dataDir }: ServiceProcess, subscriptionId: string): Promise<void> {
  const database = openSqlite(join(dataDir, 'integration.db'));
  const unitOfWork = operatorUnitOfWork(database);
  const subscription = await unitOfWork.rows.subscriptions.find(subscriptionId);
  const event = {
    id: 'evt_1' as never,
    type: 'user.updated',
    occurredAt: Date.now(),
    sequence: Date.now(),
    isTest: 0 as const,
    requestId: null,
    instanceId: 'ins_1',
    clientId: 'cli_1',
    entityType: 'user',
    entityId: 'usr_1',
    data: '{}',
  };
  const made = Array.from({ length: PENDING }, () =>
    newDelivery(subscription as never, event, 'EVENT', Date.now()),
  );
  await inNameOf(OPERATOR, unitOfWork).run(async ({ deliveries }) => {
    await deliveries.insertTestEvent(event);
    await deliveries.insert(made);
  });
  await database.close();
}

test('a domain that is killed while it holds what is pending of a subscription continues with it when it is back', async () => {
  const first = await services.start({ command: 'domain', env: ENV });
  const instanceIntegrationId = demoSeed.integrations[0]?.connections[0]?.id ?? '';
  const wanted = { instanceIntegrationId, url: 'http://127.0.0.1:9/', eventTypes: ['*'], clientIds: [] };
  const { subscription } = await withClient(first, (client) =>
    client.createSubscription({ ...wanted, description: '' }, CALL),
  );
  const subscriptionId = subscription?.id ?? '';
  await first.stop();
  await plantPending(first, subscriptionId);

  const again = { command: 'domain', env: first.settings, dataDir: first.dataDir } as const;
  const second = await services.start(again);
  const backlog = (domain: ServiceProcess) =>
    withClient(domain, (client) => client.getSubscription({ subscriptionId }, CALL));
  const disabled = await withClient(second, (client) => client.disableSubscription({ subscriptionId }, CALL));
  second.signal('SIGKILL');
  await second.exited;
  expect(disabled.heldDeliveries).toBe(PENDING);

  const third = await services.start(again);
  const { pendingDeliveries, heldDeliveries } = await backlog(third);
  expect(pendingDeliveries + heldDeliveries).toBe(PENDING);
  await eventually('nothing pending', async () => (await backlog(third)).pendingDeliveries === 0);
  expect(await backlog(third)).toMatchObject({ pendingDeliveries: 0, heldDeliveries: PENDING });
});
