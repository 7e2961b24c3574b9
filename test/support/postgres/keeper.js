/**
 * Tells clients of its socket the address of PostgreSQL, which it starts on the first connection. Ends with
 * the test run, which holds its standard input.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { importEmbeddedPostgres } from './reachable-modules.js';

const START_ATTEMPTS = 3;
/** Other users of the machine can reach the port. */
const PASSWORD = randomBytes(24).toString('hex');
/** A linguistic order, as most servers have it, so that nothing comes to rely on the order of bytes. */
const INITDB_FLAGS = [
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=icu',
  '--icu-locale=en-US',
  '--no-sync',
  // Each connection proves its password, and the real thousands of rounds are most of what a short one costs.
  '--set=scram_iterations=1',
];
const POSTGRES_FLAGS = [...['-c', 'listen_addresses=127.0.0.1'], ...['-c', 'unix_socket_directories=']];
const OF_TESTS = [
  ...['-c', 'max_connections=400'],
  ...['-c', 'shared_buffers=32MB'],
  // Nothing here outlives the run.
  ...['-c', 'fsync=off'],
  ...['-c', 'full_page_writes=off'],
  ...['-c', 'wal_level=minimal'],
  ...['-c', 'max_wal_senders=0'],
];

const folder = process.argv[2];
/** Where databases are quick: the same folder, or one in memory. */
const dataFolder = process.argv[3];
/** As PostgreSQL comes, for measurements: a commit waits for the disk. */
const isDurable = process.argv[4] === 'durable';
const socket = join(folder, 'keeper.sock');
const modulesCopy = `${folder}-modules`;
let running;
let ending = false;

async function start() {
  const EmbeddedPostgres = await importEmbeddedPostgres(modulesCopy);
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const server = new EmbeddedPostgres({
      // Beside the folder, not in it: PostgreSQL runs as another user when the tests run as root.
      databaseDir: `${dataFolder}-postgres-${attempt}`,
      port,
      password: PASSWORD,
      persistent: false,
      createPostgresUser: userInfo().uid === 0,
      initdbFlags: INITDB_FLAGS,
      postgresFlags: isDurable ? POSTGRES_FLAGS : [...POSTGRES_FLAGS, ...OF_TESTS],
      onLog: () => undefined,
      onError: () => undefined,
    });
    try {
      await server.initialise();
      await server.start();
      return { server, url: `postgresql://postgres:${PASSWORD}@127.0.0.1:${port}` };
    } catch (error) {
      rmSync(`${dataFolder}-postgres-${attempt}`, { recursive: true, force: true });
      if (attempt === START_ATTEMPTS) {
        throw error ?? new Error('PostgreSQL ended at once.');
      }
    }
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function end() {
  if (ending) {
    return;
  }
  ending = true;
  const started = await running?.catch(() => undefined);
  await started?.server.stop();
  // A run that was killed may still be dying, and writing.
  for (const made of [folder, dataFolder]) {
    rmSync(made, { recursive: true, force: true, maxRetries: 10 });
  }
  rmSync(modulesCopy, { recursive: true, force: true });
  process.exit(0);
}

const answers = createServer(async (connection) => {
  connection.on('error', () => undefined);
  try {
    running ??= start();
    const { url } = await running;
    connection.end(JSON.stringify({ url }));
  } catch (error) {
    connection.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
  }
});
answers.listen(socket, () => process.stdout.write(`${socket}\n`));
process.stdin.on('end', end).on('error', end).resume();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, end);
}
