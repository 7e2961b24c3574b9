import { randomUUID } from 'node:crypto';
import { InstanceIntegrationStatus } from '../../../generated/proto/integration/operator/v1/connections.js';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import type { Comparison } from '../harness/comparison.js';
import { startLoad } from '../load/load.js';
import { settledMegabytes } from '../subjects/memory.js';
import { clientsOf, newCall, type Operator, renameUser } from '../subjects/platform.js';
import { type ChangeItem, changesPath, readChanges } from '../subjects/sequence.js';
import { type RunningService, startService } from '../subjects/service.js';
import { makeWorkplace } from '../subjects/workplace.js';

const WAITS = 1_000;
const WAITS_PER_KEY = 50;
const TOLD = 'p99 from a commit to its answer, beside 1,000 waits (ms)';
const READS = 'p99 of other reads, beside 1,000 waits (ms)';
const WAITING_MEMORY = 'memory of 1,000 waits (MB)';
const COMMITS = 200;
const ROUND_MS = 3_000;
/** The waits end before the processes come to rest. */
const WAITING_STILL_MS = 2_500;

/** Requests that wait for a change, and what they do to others. */
export const waits: Comparison = {
  rows: {
    [TOLD]: { referenceName: 'the promise', goal: 1, higherIsBetter: false },
    [READS]: { referenceName: 'beside none', goal: 1.5, higherIsBetter: false },
    [WAITING_MEMORY]: { referenceName: 'the promise, 50 KB each', goal: 1, higherIsBetter: false },
  },
  warmUpRounds: 0,
  rounds: 3,
  setUp: async (scope) => {
    const workplace = makeWorkplace(scope);
    const service = await startService(scope, workplace);
    const { platform, operator } = clientsOf(scope, workplace);
    const load = startLoad(scope);
    const instanceId = demoSeed.clients[0]?.instance ?? '';
    // The waits are for an instance that does not change, and one reader follows the one that does.
    const { instance } = await platform.createInstance({ name: 'Quiet' }, newCall());
    const quiet: { id: string; key: string }[] = [];
    for (let key = 0; key < WAITS / WAITS_PER_KEY; key += 1) {
      quiet.push(await newReader(operator, instance?.id ?? ''));
    }
    const follower = await newReader(operator, instanceId);
    const readTarget = {
      host: '127.0.0.1',
      port: service.gatewayPort,
      path: '/v1/instance-integrations',
      headers: { 'x-api-key': follower.key },
      expectStatus: 200,
    };
    const p99OfReads = async () =>
      (await load({ target: readTarget, connections: 4, durationMs: ROUND_MS })).p99Ms;
    return {
      ours: async () => {
        const memory = await settledMegabytes(service.pid);
        const end = new AbortController();
        const waiting = quiet.flatMap((reader) =>
          Array.from({ length: WAITS_PER_KEY }, () => waitOn(service, reader, end.signal)),
        );
        const grown = (await settledMegabytes(service.pid, WAITING_STILL_MS)) - memory;
        const reads = await p99OfReads();
        const told = await timesToTell(service, follower, (index) => renameUser(platform, index));
        end.abort();
        await Promise.all(waiting);
        return {
          [TOLD]: told.toSorted((a, b) => a - b)[Math.floor(COMMITS * 0.99)] ?? 0,
          [READS]: reads,
          [WAITING_MEMORY]: Math.max(grown, 0.1),
        };
      },
      reference: async () => ({ [TOLD]: 50, [READS]: await p99OfReads(), [WAITING_MEMORY]: 50 }),
    };
  },
};

async function newReader(operator: Operator, instanceId: string): Promise<{ id: string; key: string }> {
  const { integration } = await operator.createIntegration({ name: randomUUID() }, newCall());
  const integrationId = integration?.id ?? '';
  const { instanceIntegration } = await operator.connectInstance({ integrationId, instanceId }, newCall());
  const instanceIntegrationId = instanceIntegration?.id ?? '';
  const status = InstanceIntegrationStatus.CONFIGURED;
  await operator.configureInstanceIntegration({ instanceIntegrationId, status }, newCall());
  const { key } = await operator.createApiKey({ integrationId, label: 'bench' }, newCall());
  return { id: instanceIntegrationId, key };
}

/** Asks again whenever a wait is over. */
async function waitOn(
  { gatewayPort }: RunningService,
  { id, key }: { id: string; key: string },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const url = `http://127.0.0.1:${gatewayPort}${changesPath(id)}?wait=25`;
    await fetch(url, { headers: { 'x-api-key': key }, signal })
      .then((answer) => answer.text())
      .catch(() => undefined);
  }
}

/** From the answer to the writer, which is the commit, to the answer of a reader who waits. */
async function timesToTell(
  service: RunningService,
  { id, key }: { id: string; key: string },
  change: (index: number) => Promise<unknown>,
): Promise<number[]> {
  const path = changesPath(id);
  const headers = { 'x-api-key': key };
  let cursor = (await readChanges(service, `${path}?limit=1000`, headers)).at(-1)?.cursor;
  for (let items: ChangeItem[] = [{ cursor: cursor ?? '' }]; items.length > 0; ) {
    items = await readChanges(service, `${path}?after=${cursor}`, headers);
    cursor = items.at(-1)?.cursor ?? cursor;
  }
  const times: number[] = [];
  for (let index = 0; index < COMMITS; index += 1) {
    const told = readChanges(service, `${path}?after=${cursor}&wait=25`, headers);
    // The reader waits by then.
    await readChanges(service, `${path}?after=${cursor}`, headers);
    await change(index);
    const committedAt = performance.now();
    const items = await told;
    times.push(Math.max(0.1, performance.now() - committedAt));
    cursor = items.at(-1)?.cursor ?? cursor;
  }
  return times;
}
