import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { type Delivery, DeliveryStatus } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import { packageVersion } from '../../src/config/package.js';
import { scheduleIds, TASK_QUEUE } from '../../workflows/contract.js';
import { instanceIds } from '../flow/sign-on/demo-environment.js';
import { WebhookEnvironment } from '../flow/webhooks/webhook-environment.js';
import { eventually } from '../support/eventually.js';
import { freePorts } from '../support/free-ports.js';
import { findToolchain } from '../support/programs.js';
import { isRunning, type ServiceProcess } from '../support/service-process.js';
import { newTemporaryDirectory } from '../support/temporary-directory.js';
import { answerWith, atFirst, webhookReceivers } from '../support/webhooks/receiver.js';
import { hostOf, PORTS } from './addresses.js';
import { type Cluster, startCluster } from './cluster.js';
import { builtTemporal } from './temporal-programs.js';

const START_LIMIT_MS = 300_000;
const TEST_LIMIT_MS = 240_000;
const WAIT_LIMIT_MS = 90_000;

const RETRY_DELAYS = '3s,3s';
/** `temporal.api.enums.v1.TaskQueueType` */
const WORKFLOW_TASKS = 1;

const programs = await builtTemporal();
const lacks =
  programs === undefined
    ? 'the Temporal server is not built: `make chaos` and `make cluster` build it'
    : (['pgbouncer', 'prometheus', 'haproxy'] as const)
        .filter((name) => findToolchain(name, process.env) === undefined)
        .map((name) => `${name} is missing`)[0];
if (lacks !== undefined) {
  process.stderr.write(`Skipped “a Temporal cluster on PostgreSQL”: ${lacks}\n`);
}

(lacks === undefined ? describe : describe.skip)('a Temporal cluster on PostgreSQL', () => {
  let cluster: Cluster;
  let environment: WebhookEnvironment;
  let client: Client;
  const network = `127.${randomInt(1, 255)}.${randomInt(0, 255)}`;
  const newReceiver = webhookReceivers();

  beforeAll(async () => {
    const [signOn = 0, gateway = 0, grpc = 0, one = 0, two = 0, haproxy = 0, prometheus = 0, temporal = 0] =
      await freePorts(8);
    const ports = { signOn, gateway, grpc, demoApps: [one, two] as const, haproxy, prometheus, temporal };
    cluster = await startCluster({
      ...{ network, ports, folder: join(newTemporaryDirectory(), 'cluster'), temporal: programs },
      settings: { WEBHOOK_RETRY_DELAYS: RETRY_DELAYS },
    });
    const service = { demo: () => cluster.demo, settings: { GRPC_PORT: String(grpc) } };
    environment = new WebhookEnvironment(service as unknown as ServiceProcess, newReceiver);
    const ca = readFileSync(join(cluster.folder, 'temporal/ca.crt'));
    const connection = Connection.lazy({
      address: `127.0.0.1:${temporal}`,
      tls: { serverRootCACertificate: ca },
    });
    client = new Client({ connection, namespace: 'demo' });
  }, START_LIMIT_MS);

  afterAll(async () => {
    environment?.close();
    await client?.connection.close();
    await cluster?.stop();
    const nodes = ['temporal-1', 'temporal-2'].flatMap((name) => cluster?.part(name)?.pid ?? []);
    expect(nodes.filter(isRunning)).toEqual([]);
  }, TEST_LIMIT_MS);

  const hasEachScheduleOnce = () =>
    eventually('each schedule once', async () => {
      const found: string[] = [];
      for await (const { scheduleId } of client.schedule.list()) {
        found.push(scheduleId);
      }
      return JSON.stringify(found.sort()) === JSON.stringify(Object.values(scheduleIds).sort());
    });

  /** A delivery to a new subscription that failed once and then arrived. */
  async function retried(): Promise<Delivery> {
    const to = await environment.subscribe({ eventTypes: ['client.*'] }, atFirst(1, answerWith(503)));
    await environment.newClient(instanceIds.harborlight);
    const { eventId } = await to.receiver.next();
    const delivered = await eventually(
      'the delivery',
      async () =>
        (await environment.deliveries(to)).find(
          (delivery) => delivery.eventId === eventId && delivery.status === DeliveryStatus.DELIVERED,
        ),
      WAIT_LIMIT_MS,
    );
    await environment.unsubscribe(to);
    return delivered;
  }

  /** What the workflow of a delivery says at its end; undefined if none was started. */
  async function workflowOf({ retryWorkflowId }: Delivery): Promise<unknown> {
    if (retryWorkflowId === undefined) {
      return undefined;
    }
    try {
      return await client.workflow.getHandle(retryWorkflowId).result();
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) {
        return undefined;
      }
      throw error;
    }
  }

  const workersPoll = (names: readonly ('worker-1' | 'worker-2')[]) =>
    eventually(
      'workers that poll Temporal',
      async () => {
        const answers = await Promise.all(
          names.map(async (name) => fetch(`http://${hostOf(network, name)}:${PORTS.metrics}/readyz`)),
        );
        const states = await Promise.all(
          answers.map((answer) => answer.json() as Promise<{ status: string }>),
        );
        return states.every(({ status }) => status === 'ready');
      },
      WAIT_LIMIT_MS,
    );

  test(
    'gives its tasks to the version of the workers',
    async () => {
      await workersPoll(['worker-1', 'worker-2']);
      const current = await eventually('a current version', async () => {
        const { versioningInfo } = await client.connection.workflowService.describeTaskQueue({
          namespace: 'demo',
          taskQueue: { name: TASK_QUEUE },
          taskQueueType: WORKFLOW_TASKS,
        });
        return versioningInfo?.currentDeploymentVersion;
      });
      expect(current).toMatchObject({ deploymentName: 'integration', buildId: packageVersion });
    },
    TEST_LIMIT_MS,
  );

  test(
    'has the namespace with its retention, the search attributes and each schedule once',
    async () => {
      await workersPoll(['worker-1', 'worker-2']);
      const { workflowService, operatorService } = client.connection;
      const { config } = await workflowService.describeNamespace({ namespace: 'demo' });
      expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 86_400);
      const { customAttributes } = await operatorService.listSearchAttributes({ namespace: 'demo' });
      expect(Object.keys(customAttributes ?? {}).sort()).toEqual([
        'EventTypes',
        'InstanceIntegrationId',
        'SubscriptionId',
      ]);
      await hasEachScheduleOnce();
    },
    TEST_LIMIT_MS,
  );

  test(
    'retries a failed delivery by a workflow, which can be found by its subscription',
    async () => {
      const delivery = await retried();
      expect(await workflowOf(delivery)).toMatchObject({ deliveries: 1, delivered: 1 });
      await eventually('the workflow in the list', async () => {
        const query = `WorkflowType = 'webhookRetry' AND SubscriptionId = '${delivery.subscriptionId}'`;
        for await (const { workflowId } of client.workflow.list({ query })) {
          return workflowId === delivery.retryWorkflowId;
        }
        return false;
      });
    },
    TEST_LIMIT_MS,
  );

  test(
    'goes on after a node of Temporal was killed: by the times in the database while workers have lost it, then by workflows',
    async () => {
      const part = cluster.part('temporal-1');
      process.kill(part.pid, 'SIGKILL');
      await part.ended;
      const outcome = await eventually(
        'a retry by a workflow',
        async () => workflowOf(await retried()),
        WAIT_LIMIT_MS,
      );
      expect(outcome).toMatchObject({ deliveries: 1, delivered: 1 });
      await workersPoll(['worker-1', 'worker-2']);
      await hasEachScheduleOnce();
    },
    TEST_LIMIT_MS,
  );
});
