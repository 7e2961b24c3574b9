/**
 * Records a workflow that goes through everything it can go through, for replay.test.ts. Run it when a definition has
 * changed on purpose, and keep the old files: workflows of the old shape may still be running.
 *
 *     npx tsx test/workflows/record-history.ts <purge|code-expiry|key-rotation>-<what is new>
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createActivities } from '../../workflows/activities/index.js';
import { defaultSigningKeyRotationInput, taskQueue, workflowTypes } from '../../workflows/contract.js';
import { findTemporal } from '../../workflows/dev-server/find.js';
import { startTemporalWorker } from '../../workflows/worker.js';
import { historyToFile } from './history-file.js';
import {
  connectClient,
  namespace,
  quickCodeExpiry,
  quickPurge,
  type Scripts,
  scriptedMaintenance,
  silentLog,
  startServer,
  temporaryFolder,
  writeBundle,
} from './temporal-fixture.js';

interface Recording {
  workflowType: string;
  input: object;
  domain: Scripts;
}

const restart = () => new Error('the domain restarts');
const soon = async () => ({ issued: 12, redeemed: 8, expired: 3, retryAt: new Date(Date.now() + 50) });

const recordings: Record<string, Recording> = {
  purge: {
    workflowType: workflowTypes.purge,
    input: { ...quickPurge, pauseMs: 20, batchesPerRun: 3 },
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
    workflowType: workflowTypes.authorizationCodeExpiry,
    input: { ...quickCodeExpiry, waitMs: 200 },
    domain: { expiry: [restart(), soon, { issued: 12, redeemed: 9, expired: 3, retryAt: null }] },
  },
  'key-rotation': {
    workflowType: workflowTypes.signingKeyRotation,
    input: { ...defaultSigningKeyRotationInput, retryFirstDelayMs: 20 },
    domain: {
      rotation: [
        restart(),
        { changes: [{ kid: 'new', step: 'published' }], nextDueAt: '2026-07-02T10:00:00.000Z' },
      ],
    },
  },
};

const name = process.argv[2] ?? '';
const recording = Object.entries(recordings).find(([kind]) => name.startsWith(`${kind}-`))?.[1];
if (!recording) {
  throw new Error(`Give the history a name that begins with ${Object.keys(recordings).join('-, ')}-`);
}

const { executable } = await findTemporal();
const files = await temporaryFolder();
const [server, bundlePath] = await Promise.all([startServer(executable), writeBundle(files.folder)]);
const worker = await startTemporalWorker({
  address: server.address,
  namespace,
  activities: createActivities(scriptedMaintenance(recording.domain)),
  log: silentLog,
  bundlePath,
});
const client = await connectClient(server.address);
const handle = await client.workflow.start(recording.workflowType, {
  taskQueue,
  workflowId: name,
  args: [recording.input],
});
await handle.result();
const lastRun = await client.workflow.getHandle(name).describe();
for (const [run, runId] of [...new Set([handle.firstExecutionRunId, lastRun.runId])].entries()) {
  const history = await client.workflow.getHandle(name, runId).fetchHistory();
  const file = fileURLToPath(new URL(`./histories/${name}-run-${run + 1}.json`, import.meta.url));
  await writeFile(file, historyToFile(history));
}
await client.connection.close();
await worker.shutdown();
await server.stop();
await files.remove();
