import { deepStrictEqual, ok } from 'node:assert';
import type { InstanceIntegrationId } from '../../../generated/ids.js';
import { type ChangeCursors, LAST_OF_POSITION } from '../../../src/domain/directory/changes.js';
import { changeCursors } from '../../../src/keys/change-cursors.js';
import { SealingRing } from '../../../src/keys/sealing-ring.js';
import { readSecretsKeys } from '../../../src/keys/secrets-key.js';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import { exchange } from '../../support/http-exchange.js';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { startLoad } from '../load/load.js';
import { clientsOf, renameUser, timeOfWrites, WRITES_AT_ONCE } from '../subjects/platform.js';
import { changesPath, readChanges } from '../subjects/sequence.js';
import { databaseIn, keyFileIn, startService } from '../subjects/service.js';
import {
  cachedStoredWorkers,
  clientId,
  connectionId,
  makeStoredWorkers,
  workersPath,
} from '../subjects/stored-workers.js';
import { makeWorkplace } from '../subjects/workplace.js';

const MS_PER_SECOND = 1_000;
const BYTES_PER_MB = 1_000_000;
const FIRST_CLIENT = 1;
const PATH = changesPath(connectionId());

const CATCH_UP = 'GET changes, 100 of 1,000,000 workers (ms an answer)';
const CHANGED = 100;
const WORKERS_EACH = 500;
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
    deepStrictEqual(many.resources, few.resources, 'Both sides give the same workers.');
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
  const first = await readChanges(service, `${PATH}?limit=1`, headers);
  const cursors = cursorsOf(workplace);
  const reader = connectionId() as InstanceIntegrationId;
  const place = cursors.read(String(first[0]?.cursor), reader);
  ok(place !== undefined, 'the service has the same key');
  // Following a million workers up to here would take a minute.
  const behind = { position: before, ...LAST_OF_POSITION };
  const after = cursors.write({ ...place, after: behind, beganAt: 0, isLoading: false }, reader);
  const path = `${PATH}?after=${after}`;
  const items = await readChanges(service, path, headers);
  ok(items.length === CHANGED, 'the changed workers come, and no others');
  return { port: service.gatewayPort, headers, path, resources: items.map(({ resource }) => resource) };
}

function newestPosition(workplace: string): number {
  return inDatabase(workplace, (database) => {
    const query = 'select last_position as newest from change_feed';
    return (database.prepare(query).get() as { newest: number }).newest;
  });
}

/** Cursors with the key of the service. */
function cursorsOf(workplace: string): ChangeCursors {
  return inDatabase(workplace, (database) => {
    const query = "select sealed from token_keys where purpose = 'cursors'";
    const { sealed } = database.prepare(query).get() as { sealed: string };
    const ring = new SealingRing(readSecretsKeys(keyFileIn(workplace)));
    return changeCursors(ring.box('token-keys').open(sealed, 'cursors'));
  });
}

/** Those of one client, which both databases have. Their lists stay the same: other rows compare them. */
function changeWorkers(workplace: string, count: number): void {
  inDatabase(workplace, (database) => {
    database
      .prepare(
        `update workers set phone = phone where id in (
          select id from workers where offboarded_at is null and client_id = ? order by id limit ?
        )`,
      )
      .run(clientId(FIRST_CLIENT), count);
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
          for (let path: string | undefined = PATH; path !== undefined; ) {
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
      [ALONE]: await timeOfWrites(1, subject.write),
      [TOGETHER]: await timeOfWrites(WRITES_AT_ONCE, subject.write),
    });
    return { ours: () => readingOf(ours), reference: () => readingOf(reference) };
  },
};

async function startPlatform(scope: Scope, workplace: string) {
  await startService(scope, workplace);
  const { platform } = clientsOf(scope, workplace);
  return { write: (index: number) => renameUser(platform, index) };
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

/** The sequence of changes. */
export const changes: readonly Comparison[] = [catchUp, firstLoad, write];
