import { mkdirSync, realpathSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { portsAreFree, serviceIsReady } from '../../../../src/cli/commands/doctor/port-checks.js';
import { freePorts } from '../../../support/free-ports.js';
import { doctorRig, freePortSettings } from './rig.js';

const { directory, outcomeOf } = doctorRig();
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

describe('ports', () => {
  type Answers = Record<string, object | string>;

  /** A server that answers these paths, and with its request id the others. */
  async function served(answers: Answers, at: object = { host: '127.0.0.1', port: 0 }): Promise<number> {
    const server = createServer(({ url = '' }, response) => {
      const answer = answers[url];
      response.writeHead(200, answer === undefined ? { 'x-request-id': 'one' } : {});
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? {}));
    });
    await new Promise<void>((resolve) => server.listen(at, resolve));
    servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  const edge = () => served({});
  const other = () => served({ '/': 'hello', '/livez': 'hello' });
  const livez = (dataDir: string, ...ports: number[]) => ({
    '/livez': { status: 'alive', dataDir, ports: ports.map((port) => ({ host: '127.0.0.1', port })) },
  });

  /** A place with a role under `serve` that says that it listens on these ports. */
  async function placeServing(...ports: number[]): Promise<string> {
    const folder = directory();
    mkdirSync(join(folder, 'run'));
    await served(livez(folder, ...ports), { path: join(folder, 'run', 'edge.ops.sock') });
    return folder;
  }

  test('are free, or taken by another process', async () => {
    const free = await freePortSettings();
    expect(await outcomeOf(portsAreFree, free)).toMatchObject({ status: 'ok', detail: 'All are free.' });
    const [one, two] = [await other(), await other()];
    const taken = { ...free, SIGN_ON_PORT: String(one), GRPC_PORT: String(two) };
    expect(await outcomeOf(portsAreFree, taken)).toMatchObject({
      status: 'error',
      examples: [
        `127.0.0.1:${one} (SIGN_ON_PORT) is taken by another process`,
        `127.0.0.1:${two} (GRPC_PORT) is taken by another process`,
      ],
    });
  });

  test('are taken on all addresses if another process has them on one', async () => {
    const free = await freePortSettings();
    await served({}, { host: '127.0.0.2', port: Number(free.SIGN_ON_PORT) });
    const settings = { ...free, LISTEN_HOST: '0.0.0.0' };
    expect(await outcomeOf(portsAreFree, settings)).toMatchObject({
      status: 'error',
      examples: [`0.0.0.0:${free.SIGN_ON_PORT} (SIGN_ON_PORT) is taken by another process`],
    });
    expect(await outcomeOf(portsAreFree, free)).toMatchObject({ status: 'ok' });
  });

  test('are ours if a process in the data directory says that it has them', async () => {
    const [signOn, gateway, grpc] = [await edge(), await edge(), await other()];
    const DATA_DIR = await placeServing(signOn, gateway, grpc);
    const settings = { ...(await freePortSettings()), DATA_DIR, GRPC_PORT: String(grpc) };
    const ours = { ...settings, SIGN_ON_PORT: String(signOn), GATEWAY_PORT: String(gateway) };
    expect(await outcomeOf(portsAreFree, ours)).toMatchObject({
      status: 'ok',
      detail: 'The service listens on 3.',
    });
    // The listener of the settings would be on all addresses, that of the process is on one of them.
    expect(await outcomeOf(portsAreFree, { ...ours, LISTEN_HOST: '0.0.0.0' })).toMatchObject({
      status: 'ok',
    });
  });

  test('of another environment of this service are taken, whether this one runs or not', async () => {
    const [own, gateway, metrics] = [await edge(), await edge(), await served(livez('/srv/other'))];
    const free = await freePortSettings();
    const taken = { ...free, GATEWAY_PORT: String(gateway), METRICS_PORT: String(metrics) };
    const examples = [
      `127.0.0.1:${gateway} (GATEWAY_PORT) is taken by another environment of this service`,
      `127.0.0.1:${metrics} (METRICS_PORT) is taken by another environment of this service, with the data directory /srv/other`,
    ];
    expect(await outcomeOf(portsAreFree, taken)).toMatchObject({
      status: 'error',
      examples,
    });

    const running = { ...taken, DATA_DIR: await placeServing(own), SIGN_ON_PORT: String(own) };
    expect(await outcomeOf(portsAreFree, running)).toMatchObject({
      status: 'error',
      examples,
      detail: 'The service listens on 1.',
    });
    expect(await outcomeOf(serviceIsReady, running)).toMatchObject({
      status: 'skipped',
      reason: 'the service does not run here',
    });
  });

  test('that another role may have, run by itself, are not judged', async () => {
    const DATA_DIR = directory();
    const [signOn, grpc] = [await edge(), await other()];
    const [metrics = 0] = await freePorts(1);
    await served(livez(realpathSync(DATA_DIR), metrics), { host: '127.0.0.1', port: metrics });
    const settings = {
      ...{ ...(await freePortSettings()), DATA_DIR, METRICS_PORT: String(metrics) },
      ...{ SIGN_ON_PORT: String(signOn), GRPC_PORT: String(grpc) },
    };
    expect(await outcomeOf(portsAreFree, settings)).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('Not judged: SIGN_ON_PORT, GRPC_PORT;'),
    });
    const GATEWAY_PORT = String(await other());
    expect(await outcomeOf(portsAreFree, { ...settings, GATEWAY_PORT })).toMatchObject({
      status: 'error',
      examples: [`127.0.0.1:${GATEWAY_PORT} (GATEWAY_PORT) is taken by another process`],
    });
  });

  test('of an address that this machine does not have are an error', async () => {
    const elsewhere = { ...(await freePortSettings()), LISTEN_HOST: '192.0.2.1' };
    expect(await outcomeOf(portsAreFree, elsewhere)).toMatchObject({
      status: 'error',
      examples: [expect.stringContaining('is not an address of this machine'), expect.anything()],
    });
  });

  test.each([
    ['ready', '{"status":"ready"}', { status: 'ok' }],
    [
      'degraded because it has no Temporal',
      '{"status":"degraded","roles":{"edge":{"status":"ready"},"worker":{"status":"degraded","checks":{"temporal":{"ok":false,"detail":"away"}}}}}',
      { status: 'ok', detail: 'It is degraded.' },
    ],
    [
      'degraded by another role',
      '{"status":"degraded","roles":{"edge":{"status":"ready"},"worker":{"status":"unready","checks":{"domain":{"ok":false,"detail":"away"}}}}}',
      { status: 'warning', examples: ['worker: domain: away'] },
    ],
    [
      'unready without a reason',
      '{"status":"unready"}',
      { status: 'warning', examples: ['the service is unready'] },
    ],
  ])('tell a service that is %s', async (_, body, outcome) => {
    const DATA_DIR = directory();
    const METRICS_PORT = String(await served({ ...livez(realpathSync(DATA_DIR)), '/readyz': body }));
    expect(await outcomeOf(serviceIsReady, { DATA_DIR, METRICS_PORT })).toMatchObject(outcome);
  });

  test('without a service skip the check of readiness', async () => {
    expect(await outcomeOf(serviceIsReady, await freePortSettings())).toMatchObject({ status: 'skipped' });
  });
});
