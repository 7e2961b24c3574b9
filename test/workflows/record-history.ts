/**
 * Records a purge that goes through everything it can go through, for replay.test.ts. Run it when the definition
 * has changed on purpose, and keep the old file: workflows of the old shape may still be running.
 *
 *     npx tsx test/workflows/record-history.ts purge-<what is new>
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createActivities } from '../../workflows/activities/index.js';
import { taskQueue, workflowTypes } from '../../workflows/contract.js';
import { findTemporal } from '../../workflows/dev-server/find.js';
import { startTemporalWorker } from '../../workflows/worker.js';
import { historyToFile } from './history-file.js';
import {
  connectClient,
  namespace,
  quickPurge,
  scriptedMaintenance,
  silentLog,
  startServer,
  temporaryFolder,
  writeBundle,
} from './temporal-fixture.js';

const name = process.argv[2];
if (!name?.startsWith('purge-')) throw new Error('Give the history a name that begins with purge-');

const { executable } = await findTemporal();
const files = await temporaryFolder();
const [server, bundlePath] = await Promise.all([startServer(executable), writeBundle(files.folder)]);
const { maintenance } = scriptedMaintenance([
  { deleted: { sessions: 10, codes: 2 }, more: true },
  new Error('the domain restarts'),
  { deleted: { sessions: 10 }, more: true },
  { deleted: { sessions: 1 }, more: true },
  { deleted: { deliveries: 3 }, more: false },
]);
const worker = await startTemporalWorker({
  address: server.address,
  namespace,
  activities: createActivities({ maintenance }),
  log: silentLog,
  bundlePath,
});
const client = await connectClient(server.address);
const input = { ...quickPurge, pauseMs: 20, batchesPerRun: 3 };
const handle = await client.workflow.start(workflowTypes.purge, {
  taskQueue,
  workflowId: name,
  args: [input],
});
await handle.result();
const lastRun = await client.workflow.getHandle(name).describe();
for (const [run, runId] of [handle.firstExecutionRunId, lastRun.runId].entries()) {
  const history = await client.workflow.getHandle(name, runId).fetchHistory();
  const file = fileURLToPath(new URL(`./histories/${name}-run-${run + 1}.json`, import.meta.url));
  await writeFile(file, historyToFile(history));
}
await client.connection.close();
await worker.shutdown();
await server.stop();
await files.remove();
