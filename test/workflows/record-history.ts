/**
 * Records a complete workflow for replay.test.ts. Run it after an intended change of a definition, and keep
 * the old files: workflows of the old version may still run.
 *
 * npx tsx test/workflows/record-history.ts <kind>-<what is new>, where the kind is purge, code-expiry,
 * key-rotation, webhook-retry, webhook-retry-as-started, webhook-retry-answered-late or webhook-retry-hurried
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import {
  defaultPurgeInput,
  defaultSigningKeyRotationInput,
  queryNames,
  signalNames,
  TASK_QUEUE,
  type WebhookRetryProgress,
} from '../../workflows/contract.js';
import { findTemporal } from '../../workflows/dev-server/find.js';
import { startTemporalWorker } from '../../workflows/worker.js';
import { signalled } from '../support/signalled.js';
import { historyToFile } from './history-file.js';
import { RetryDomain } from './retry-domain.js';
import {
  connectClient,
  eventually,
  impatient,
  NAMESPACE,
  quickCodeExpiry,
  quickWebhookRetry,
  type Scripts,
  scriptedMaintenance,
  silentLog,
  startServer,
  workOf,
  writeBundle,
} from './temporal-fixture.js';

interface Recording {
  workflowType: string;
  input: object;
  domain?: Scripts;
  /** Made when all is ready, because its times are near. */
  retries?: () => RetryDomain;
  signals?: { name: string; args: unknown[] }[];
  /** What happens while it runs. */
  events?: (workflow: WorkflowHandle, retries: RetryDomain) => Promise<void>;
  /** Whether the server suggests a new run after few events. */
  isServerImpatient?: boolean;
}

const HOUR_MS = 3_600_000;
const restart = () => new Error('the domain restarts');
const soon = async () => ({ issued: 12, redeemed: 8, expired: 3, retryInMs: 50 });

const recordings: Record<string, Recording> = {
  purge: {
    workflowType: 'purge',
    // One batch per step.
    input: { ...defaultPurgeInput, stepMs: 1, restMs: 5, batchesPerRun: 3, retryFirstDelayMs: 50 },
    domain: {
      purge: [
        { deleted: { sessions: 10, codes: 2 }, more: true },
        restart(),
        { deleted: {}, more: true },
        { deleted: { sessions: 1 }, more: true },
        { deleted: { deliveries: 3 }, more: false },
      ],
    },
  },
  'code-expiry': {
    workflowType: 'authorizationCodeExpiry',
    input: { ...quickCodeExpiry, waitMs: 200 },
    domain: { expiry: [restart(), soon, { issued: 12, redeemed: 9, expired: 3, retryInMs: null }] },
  },
  'webhook-retry-answered-late': {
    workflowType: 'webhookRetry',
    input: {
      ...quickWebhookRetry,
      ...{ putOffMs: HOUR_MS, mostWaitMs: HOUR_MS, subscriptionId: 'whs_1', batchId: 'bat_1' },
    },
    retries: () => {
      const retries = new RetryDomain({ delaysMs: [HOUR_MS, HOUR_MS] }).add('bat_1', { deliveryId: 'whd_a' });
      retries.receiver = async () => 500;
      return retries;
    },
    events: async (workflow, retries) => {
      const { told: known, tell: answer } = signalled();
      const { makeDue } = retries.domain;
      retries.domain.makeDue = async (...call) => {
        const states = await makeDue(...call);
        await known;
        return states;
      };
      await workflow.signal(signalNames.retryNow, ['whd_a']);
      await eventually('the failure', () => retries.rows.get('whd_a')?.lastHttpStatus === 500);
      await workflow.signal(signalNames.retryNow, ['whd_a']);
      await eventually('its note', async () => {
        const { deliveries } = await workflow.query<WebhookRetryProgress>(queryNames.progress);
        return deliveries[0]?.attemptsBegun === 2;
      });
      answer();
      await eventually('the end', () => retries.statuses.whd_a === 'EXHAUSTED');
      await workflow.signal(signalNames.giveUp);
    },
  },
  'webhook-retry-hurried': {
    workflowType: 'webhookRetry',
    input: { ...quickWebhookRetry, mostWaitMs: 100, subscriptionId: 'whs_1', batchId: 'bat_1' },
    isServerImpatient: true,
    retries: () =>
      new RetryDomain({ delaysMs: [HOUR_MS, HOUR_MS], sends: 0 }).add('bat_1', { deliveryId: 'whd_a' }),
    events: async (workflow) => {
      const { runId } = await workflow.describe();
      await workflow.signal(signalNames.retryNow, ['whd_a']);
      await eventually('the next run', async () => (await workflow.describe()).runId !== runId);
      await workflow.signal(signalNames.giveUp);
    },
  },
  'webhook-retry-as-started': {
    workflowType: 'webhookRetry',
    input: {
      address: 'https://hooks.example.com',
      reason: 'answered 503',
      deliveries: ['whd_delivered', 'whd_exhausted', 'whd_held', 'whd_lost', 'whd_patient', 'whd_given_up'],
      subscriptionId: 'whs_1',
      batchId: 'bat_1',
    },
    retries: failingRetries,
    signals: [
      { name: signalNames.retryNow, args: [['whd_patient']] },
      { name: signalNames.giveUp, args: [['whd_given_up']] },
    ],
  },
  'webhook-retry': {
    workflowType: 'webhookRetry',
    input: { ...quickWebhookRetry, subscriptionId: 'whs_1', batchId: 'bat_1', stepsPerRun: 5 },
    retries: failingRetries,
    signals: [
      { name: signalNames.retryNow, args: [['whd_patient']] },
      { name: signalNames.giveUp, args: [['whd_given_up']] },
    ],
  },
  'key-rotation': {
    workflowType: 'signingKeyRotation',
    input: { ...defaultSigningKeyRotationInput, retryFirstDelayMs: 20 },
    domain: {
      rotation: [
        restart(),
        { changes: [{ kid: 'new', step: 'published' }], nextDueAt: '2026-07-02T10:00:00.000Z' },
      ],
    },
  },
};

/** Deliveries that go every way there is, past a domain that is away twice and an attempt that is lost. */
function failingRetries(): RetryDomain {
  const hourFromNow = Date.now() + HOUR_MS;
  const faults = ['before', undefined, 'before'] as const;
  const retries = new RetryDomain({ delaysMs: [300, 1_200] }).add(
    'bat_1',
    { deliveryId: 'whd_delivered' },
    { deliveryId: 'whd_exhausted' },
    { deliveryId: 'whd_held', status: 'HELD' },
    { deliveryId: 'whd_lost', attemptsBegun: 2, leaseUntil: Date.now() + 6_000, nextAttemptAt: undefined },
    { deliveryId: 'whd_patient', nextAttemptAt: hourFromNow },
    { deliveryId: 'whd_given_up', nextAttemptAt: hourFromNow },
  );
  let calls = 0;
  retries.fault = () => faults[calls++];
  retries.receiver = ({ deliveryId }) => (deliveryId === 'whd_exhausted' ? 503 : 204);
  return retries;
}

const name = process.argv[2] ?? '';
const recording = Object.entries(recordings).find(([kind]) => name.startsWith(`${kind}-`))?.[1];
if (!recording) {
  throw new Error(`Give the history a name that begins with ${Object.keys(recordings).join('-, ')}-`);
}

const executable = await findTemporal();
const folder = await mkdtemp(join(tmpdir(), 'history-'));
// For the bundle.
process.env.TEST_RUN_FOLDER = folder;
const program = recording.isServerImpatient ? impatient(executable) : executable;
const [server, bundlePath] = await Promise.all([startServer(program), writeBundle()]);
const retries = recording.retries?.();
const worker = await startTemporalWorker({
  address: server.address,
  namespace: NAMESPACE,
  work: workOf({
    ...scriptedMaintenance(recording.domain ?? {}),
    ...(retries && { webhookRetries: retries.domain }),
  }),
  log: silentLog,
  bundlePath,
});
const client = await connectClient(server.address);
const handle = await client.workflow.start(recording.workflowType, {
  taskQueue: TASK_QUEUE,
  workflowId: name,
  args: [recording.input],
});
for (const { name: signal, args } of recording.signals ?? []) {
  await handle.signal(signal, ...args);
}
// By the id of the workflow alone, which means its newest run.
await (retries && recording.events?.(client.workflow.getHandle(name), retries));
await handle.result();
let runId: string | null | undefined = handle.firstExecutionRunId;
for (let run = 1; runId; run++) {
  const history = await client.workflow.getHandle(name, runId).fetchHistory();
  const file = fileURLToPath(new URL(`./histories/${name}-run-${run}.json`, import.meta.url));
  await writeFile(file, historyToFile(history));
  runId = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
}
await client.connection.close();
await worker.shutdown();
await server.stop();
await rm(folder, { recursive: true });
