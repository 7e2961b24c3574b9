import type { Server } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { opsOfChildren } from '../../../src/cli/supervisor/ops-of-children.js';
import { Health } from '../../../src/telemetry/health.js';
import { startOpsServer } from '../../../src/telemetry/ops-server.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

const newDirectory = temporaryDirectories(afterEach);
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

const ROLES = ['domain', 'worker', 'edge'] as const;

/** All three roles; roles that are down have no listener. */
async function ops(away: readonly string[] = [], degraded: readonly string[] = []) {
  const directory = newDirectory();
  const children = ROLES.map((role) => ({ role, opsSocket: join(directory, `${role}.sock`) }));
  for (const { role, opsSocket } of children.filter((child) => !away.includes(child.role))) {
    const isGood = !degraded.includes(role);
    const health = new Health([{ name: 'part', required: false, probe: () => ({ ok: isGood }) }]);
    const source = {
      liveness: async () => ({ status: 'alive' }),
      readiness: () => health.readiness(),
      metrics: async () => '',
    };
    servers.push(await startOpsServer(source, { path: opsSocket }));
  }
  return opsOfChildren(children, { dataDir: directory, ports: [{ host: '127.0.0.1', port: 4003 }] });
}

test.each([
  ['all are there', [], [], 'ready'],
  ['the worker is degraded', [], ['worker'], 'degraded'],
  ['the worker is away: webhooks wait', ['worker'], [], 'degraded'],
  ['the edge is away', ['edge'], [], 'unready'],
  ['the domain is away', ['domain'], [], 'unready'],
] as const)('when %s the node says so', async (_, away, degraded, status) => {
  expect(await (await ops(away, degraded)).readiness()).toMatchObject({ status });
});

test('each role answers for itself, and one that is away does not make the others unready', async () => {
  const source = await ops(['worker']);
  const statuses = ROLES.map(async (role) => (await source.readinessOf?.(role))?.status);
  expect(await Promise.all(statuses)).toEqual(['ready', 'unready', 'ready']);
  expect(await source.readinessOf?.('other')).toBeUndefined();
});

test('the metrics say that a role without an answer is not ready, and leave the others to themselves', async () => {
  const samples = (await (await ops(['worker'])).metrics()).match(/^[^#\n].*/gm);
  expect(samples).toEqual(['integration_ready{role="worker"} 0']);
});

test('the supervisor is alive while a role is down, and says which, and where it listens', async () => {
  expect(await (await ops(['worker'])).liveness()).toMatchObject({
    status: 'a role is down',
    dataDir: expect.any(String),
    ports: [{ host: '127.0.0.1', port: 4003 }],
    roles: { domain: { status: 'alive' }, worker: { status: 'unready' }, edge: { status: 'alive' } },
  });
});
