import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newPostgresDatabase, type PostgresDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { type ServiceProcess, serviceProcesses } from '../support/service-process.js';
import { readList } from './reading.js';

const LIMIT = 10;

const services = serviceProcesses();
let database: PostgresDatabase;
let nodes: ServiceProcess[];

beforeAll(async () => {
  database = await newPostgresDatabase();
  const env = { DATABASE_URL: database.url, GATEWAY_RATE_LIMIT: `${LIMIT}/10m` };
  const first = await services.start({ env });
  // Another node of the environment has its keys, its issuer and, in a demo, its credentials.
  const dataDir = join(services.newDirectory(), 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  cpSync(first.demoFile, join(dataDir, 'demo.json'));
  const { SIGN_ON_PORT, DATA_DIR = '' } = first.settings;
  const shared = {
    SIGN_ON_URL: `http://localhost:${SIGN_ON_PORT}`,
    SECRETS_KEY_FILE: join(dirname(DATA_DIR), 'data.keys', 'secrets.key'),
  };
  nodes = [first, await services.start({ dataDir, env: { ...env, ...shared } })];
});
afterAll(() => database?.drop());

/** The statuses of as many requests as both nodes would admit alone, all at once. */
async function statusesOf(key: string): Promise<number[]> {
  const requests = Array.from({ length: LIMIT }, () => nodes.map((node) => readList(node, key)));
  const responses = await Promise.all(requests.flat());
  await Promise.all(responses.map((response) => response.arrayBuffer()));
  return responses.map(({ status }) => status);
}

/** Settles when a node has said so, which may be read after the answers that it concerns. */
const alone = () =>
  Promise.any(nodes.map(({ output }) => output.nextText('limits count on this node alone')));

test('ten requests may pass: two nodes let at most eleven pass', async () => {
  const [first] = nodes as [ServiceProcess];
  const [apiKey] = first.demo().apiKeys;
  const statuses = await statusesOf(apiKey?.key ?? '');
  const passed = statuses.filter((status) => status === 200).length;
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  expect(passed).toBeGreaterThanOrEqual(LIMIT);
  if (passed > LIMIT + 1) {
    // A database that is this slow on a busy machine leaves each node to its own count.
    await alone();
  }
  expect(passed).toBeLessThanOrEqual(2 * LIMIT);

  for (const node of nodes) {
    // One that counts alone lets a few more pass.
    const refused = await eventually('a refusal', async () => {
      const response = await readList(node, apiKey?.key ?? '');
      return response.status === 429 && response;
    });
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    const resetSeconds = Number(refused.headers.get('x-ratelimit-reset'));
    expect(resetSeconds).toBeGreaterThan(0);
    expect(resetSeconds).toBeLessThanOrEqual(600);
  }
});
