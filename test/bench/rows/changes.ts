import { ok } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InstanceIntegrationStatus } from '../../../generated/proto/integration/operator/v1/connections.js';
import { OperatorServiceService } from '../../../generated/proto/integration/operator/v1/operator.js';
import { PlatformServiceService } from '../../../generated/proto/integration/platform/v1/platform.js';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import { exchange } from '../../support/http-exchange.js';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { startLoad } from '../load/load.js';
import { settledMemory } from '../subjects/memory.js';
import { databaseIn, dataDirIn, type RunningService, startService } from '../subjects/service.js';
import {
  cachedStoredWorkers,
  connectionId,
  makeStoredWorkers,
  workersPath,
} from '../subjects/stored-workers.js';
import { makeWorkplace } from '../subjects/workplace.js';

const MS_PER_SECOND = 1_000;
const BYTES_PER_MB = 1_000_000;
const FIRST_CLIENT = 1;
const changesPath = `/v1/instance-integrations/${connectionId()}/changes`;

const CATCH_UP = 'GET changes, 100 of 1,000,000 workers (ms an answer)';
const CHANGED = 100;
const WORKERS_EACH = 500;
/** A cursor behind every entity of its position. */
const LAST_OF_POSITION = ['worker', 'z'.repeat(26)];
const CONNECTIONS = 8;
const ROUND_MS = 3_000;

/** What it costs to catch up, by how much there is beside what changed. */
const catchUp: Comparison = {
  rows: { [CATCH_UP]: { referenceName: '100 of 1,000', goal: 1.2, higherIsBetter: false } },
  warmUpRounds: 2,
  rounds: 5,
  setUp: async (scope) => {
    const many = await startWithChanges(scope, 'many-workers', 1_000_000);
    const few = await startWithChanges(scope, 'few-workers', 1_000);
    const load = startLoad(scope);
    const time = async ({ port, headers, path }: typeof many) => {
      const target = { host: '127.0.0.1', port, path, headers, expectStatus: 200 };
      const { requestsPerSecond } = await load({ target, connections: CONNECTIONS, durationMs: ROUND_MS });
      return { [CATCH_UP]: (MS_PER_SECOND * CONNECTIONS) / requestsPerSecond };
    };
    return { ours: () => time(many), reference: () => time(few) };
  },
};

async function startWithChanges(scope: Scope, name: string, workers: number) {
  // With the 500 of the demo's own client.
  const clients = workers / WORKERS_EACH - 1;
  const wanted = [{ firstNumber: FIRST_CLIENT, clients, workersEach: WORKERS_EACH }];
  const workplace = await cachedStoredWorkers(scope, name, wanted);
  const before = newestPosition(workplace);
  changeWorkers(workplace, CHANGED);
  const service = await startService(scope, workplace);
  const headers = { 'x-api-key': service.apiKeyReaching(connectionId()) };
  const first = await readJson(service, `${changesPath}?limit=1`, headers);
  const [life, , , , , newest, owner] = String(first[0]?.cursor).split('.');
  const after = [life, before.toString(36), ...LAST_OF_POSITION, '0', newest, owner].join('.');
  const path = `${changesPath}?after=${after}`;
  const items = await readJson(service, path, headers);
  ok(items.length === CHANGED, 'the changed workers come, and no others');
  return { port: service.gatewayPort, headers, path };
}

function newestPosition(workplace: string): number {
  return inDatabase(workplace, (database) => {
    const query = 'select last_position as newest from change_feed';
    return (database.prepare(query).get() as { newest: number }).newest;
  });
}

/** The lists stay the same: other rows compare them, in the same databases. */
function changeWorkers(workplace: string, count: number): void {
  inDatabase(workplace, (database) => {
    database.exec(
      `update workers set phone = phone where id in (
        select id from workers where offboarded_at is null and client_id in (
          select clients.id from clients inner join instance_integrations using (instance_id)
          where instance_integrations.id = '${connectionId()}'
        ) order by id limit ${count}
      )`,
    );
  });
}

function inDatabase<T>(workplace: string, use: (database: InstanceType<typeof Sqlite>) => T): T {
  const database = new Sqlite(databaseIn(workplace));
  try {
    return use(database);
  } finally {
    database.close();
  }
}

interface Item {
  cursor: string;
}

async function readJson(
  { gatewayPort }: RunningService,
  path: string,
  headers: Record<string, string>,
): Promise<Item[]> {
  const { status, body } = await exchange(gatewayPort, path, { headers });
  ok(status === 200, body.slice(0, 200));
  return JSON.parse(body) as Item[];
}

const FIRST_LOAD = 'first load of 100,000 workers (MB/s)';

/** All pages of the sequence one after another, against the plain list in one answer. */
const firstLoad: Comparison = {
  rows: { [FIRST_LOAD]: { referenceName: 'GET v2 workers', goal: 0.5, higherIsBetter: true } },
  warmUpRounds: 1,
  rounds: 5,
  setUp: async (scope) => {
    const workplace = makeWorkplace(scope);
    await makeStoredWorkers(scope, workplace, [
      { firstNumber: FIRST_CLIENT, clients: 1, workersEach: 100_000 },
    ]);
    const service = await startService(scope, workplace);
    const headers = { 'x-api-key': service.apiKeyReaching(connectionId()) };
    const rateOf = async (read: () => Promise<number>) => {
      const startedAt = performance.now();
      const bytes = await read();
      return { [FIRST_LOAD]: bytes / BYTES_PER_MB / ((performance.now() - startedAt) / MS_PER_SECOND) };
    };
    const answer = async (path: string) => exchange(service.gatewayPort, path, { headers });
    return {
      ours: () =>
        rateOf(async () => {
          let bytes = 0;
          for (let path: string | undefined = changesPath; path !== undefined; ) {
            const { body, headers: told }: Awaited<ReturnType<typeof answer>> = await answer(path);
            bytes += Buffer.byteLength(body);
            const next: string | undefined = /<([^>]+)>; rel="next"/.exec(String(told.link ?? ''))?.[1];
            path = next && new URL(next).pathname + new URL(next).search;
          }
          return bytes;
        }),
      reference: () =>
        rateOf(async () => Buffer.byteLength((await answer(workersPath('v2', FIRST_CLIENT))).body)),
    };
  },
};

const ALONE = 'platform write, in the sequence of changes, one at a time (ms a write)';
const TOGETHER = 'platform write, in the sequence of changes, 16 at once (ms a write)';
const WRITE_TERMS = { referenceName: 'without the triggers', goal: 1.1, higherIsBetter: false };
const WRITES = 400;
const AT_ONCE = 16;

/** What the triggers add to a write. */
const write: Comparison = {
  rows: { [ALONE]: WRITE_TERMS, [TOGETHER]: WRITE_TERMS },
  warmUpRounds: 2,
  rounds: 9,
  setUp: async (scope) => {
    const [followed, unfollowed] = [makeWorkplace(scope), makeWorkplace(scope)];
    const ours = await startPlatform(scope, followed);
    const reference = await startPlatform(scope, unfollowed);
    dropTriggers(unfollowed);
    const before = newestPosition(unfollowed);
    await reference.write(0);
    ok(newestPosition(unfollowed) === before, 'a write of the reference is not in the sequence');
    const readingOf = async (subject: typeof ours) => ({
      [ALONE]: await timeOf(1, subject.write),
      [TOGETHER]: await timeOf(AT_ONCE, subject.write),
    });
    return { ours: () => readingOf(ours), reference: () => readingOf(reference) };
  },
};

const userIds =
  demoSeed.clients[0]?.users.filter(({ status }) => status === 'ACTIVE').map(({ id }) => id as string) ?? [];

async function startPlatform(scope: Scope, workplace: string) {
  await startService(scope, workplace);
  const { platform } = clientsOf(scope, workplace);
  return {
    write: (index: number) =>
      platform.updateUser(
        { userId: userIds[index % userIds.length] ?? '', lastName: randomUUID() },
        { requestId: randomUUID(), deadlineMs: 10_000 },
      ),
  };
}

function clientsOf(scope: Scope, workplace: string) {
  const demo = JSON.parse(readFileSync(join(dataDirIn(workplace), 'demo.json'), 'utf8')) as {
    grpcAddress: string;
    platformToken: string;
    operatorToken: string;
  };
  const over = (token: string) => {
    const channel = new RpcChannel(demo.grpcAddress, token);
    scope.onEnd(() => channel.close());
    return channel;
  };
  return {
    platform: over(demo.platformToken).clientOf(PlatformServiceService),
    operator: over(demo.operatorToken).clientOf(OperatorServiceService),
  };
}

function dropTriggers(workplace: string): void {
  inDatabase(workplace, (database) => {
    const triggers = database
      .prepare("select name from sqlite_master where type = 'trigger' and name like 'changes_%'")
      .all() as { name: string }[];
    ok(triggers.length > 0, 'there are triggers to drop');
    database.exec(triggers.map(({ name }) => `drop trigger ${name};`).join('\n'));
  });
}

/** Milliseconds a write, with so many under way at any time. */
async function timeOf(atOnce: number, writeOne: (index: number) => Promise<unknown>): Promise<number> {
  let next = 0;
  const writeOn = async () => {
    while (next < WRITES) {
      next += 1;
      await writeOne(next);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: atOnce }, writeOn));
  return (performance.now() - startedAt) / WRITES;
}

const WAITS = 1_000;
const WAITS_PER_KEY = 50;
const TOLD = 'p99 from a commit to its answer, beside 1,000 waits (ms)';
const READS = 'p99 of other reads, beside 1,000 waits (ms)';
const WAITING_MEMORY = 'memory of 1,000 waits (MB)';
const COMMITS = 200;

/** Requests that wait for a change, and what they do to others. */
const waits: Comparison = {
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
    const call = () => ({ requestId: randomUUID(), deadlineMs: 10_000 });
    const load = startLoad(scope);
    const instanceId = demoSeed.clients[0]?.instance ?? '';
    // The waits are for an instance that does not change, and one reader follows the one that does.
    const { instance } = await platform.createInstance({ name: 'Quiet' }, call());
    const quiet: { id: string; key: string }[] = [];
    for (let key = 0; key < WAITS / WAITS_PER_KEY; key += 1) {
      quiet.push(await newReader(operator, instance?.id ?? '', call));
    }
    const follower = await newReader(operator, instanceId, call);
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
        const memory = await megabytesOf(service.pid);
        const end = new AbortController();
        const waiting = quiet.flatMap((reader) =>
          Array.from({ length: WAITS_PER_KEY }, () => waitOn(service, reader, end.signal)),
        );
        const grown = (await megabytesOf(service.pid)) - memory;
        const reads = await p99OfReads();
        const told = await timesToTell(service, follower, (index) =>
          platform.updateUser(
            { userId: userIds[index % userIds.length] ?? '', lastName: randomUUID() },
            call(),
          ),
        );
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

async function megabytesOf(pid: number): Promise<number> {
  return (await settledMemory(pid)).reduce((sum, { megabytes }) => sum + megabytes, 0);
}

async function newReader(
  operator: ReturnType<typeof clientsOf>['operator'],
  instanceId: string,
  call: () => { requestId: string },
): Promise<{ id: string; key: string }> {
  const { integration } = await operator.createIntegration({ name: randomUUID() }, call());
  const integrationId = integration?.id ?? '';
  const { instanceIntegration } = await operator.connectInstance({ integrationId, instanceId }, call());
  const instanceIntegrationId = instanceIntegration?.id ?? '';
  const status = InstanceIntegrationStatus.CONFIGURED;
  await operator.configureInstanceIntegration({ instanceIntegrationId, status }, call());
  const { key } = await operator.createApiKey({ integrationId, label: 'bench' }, call());
  return { id: instanceIntegrationId, key };
}

/** Asks again whenever a wait is over. */
async function waitOn(
  { gatewayPort }: RunningService,
  { id, key }: { id: string; key: string },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const url = `http://127.0.0.1:${gatewayPort}/v1/instance-integrations/${id}/changes?wait=25`;
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
  const path = `/v1/instance-integrations/${id}/changes`;
  const headers = { 'x-api-key': key };
  let cursor = (await readJson(service, `${path}?limit=1000`, headers)).at(-1)?.cursor;
  for (let items: Item[] = [{ cursor: cursor ?? '' }]; items.length > 0; ) {
    items = await readJson(service, `${path}?after=${cursor}`, headers);
    cursor = items.at(-1)?.cursor ?? cursor;
  }
  const times: number[] = [];
  for (let index = 0; index < COMMITS; index += 1) {
    const told = readJson(service, `${path}?after=${cursor}&wait=25`, headers);
    // The reader waits by then.
    await readJson(service, `${path}?after=${cursor}`, headers);
    await change(index);
    const committedAt = performance.now();
    const items = await told;
    times.push(Math.max(0.1, performance.now() - committedAt));
    cursor = items.at(-1)?.cursor ?? cursor;
  }
  return times;
}

/** The sequence of changes. */
export const changes: readonly Comparison[] = [catchUp, firstLoad, write, waits];
