import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { MaintenanceServiceService } from '../../generated/proto/integration/maintenance/v1/maintenance.js';
import { RpcChannel } from '../../src/rpc/client.js';
import { newPostgresDatabase } from '../support/databases.js';
import { selfSignedCertificate } from '../support/self-signed-certificate.js';
import { type ServiceProcess, serviceProcesses } from '../support/service-process.js';
import { idsOf, readList } from './reading.js';

const services = serviceProcesses();

const TOKEN = 'the-token-of-this-test-and-of-no-other';

describe('roles that run by themselves, over TCP with TLS', () => {
  let domain: ServiceProcess;
  let edge: ServiceProcess;
  let certificate: string;

  beforeAll(async () => {
    const directory = services.newDirectory();
    const files = {
      GRPC_TLS_CERT_FILE: join(directory, 'cert.pem'),
      GRPC_TLS_KEY_FILE: join(directory, 'key.pem'),
    };
    const made = selfSignedCertificate();
    certificate = made.certificate;
    writeFileSync(files.GRPC_TLS_CERT_FILE, certificate);
    writeFileSync(files.GRPC_TLS_KEY_FILE, made.key);
    domain = await services.start({ command: 'domain', env: { SERVICE_TOKEN: TOKEN, ...files } });
    edge = await services.start({
      command: 'edge',
      env: {
        SERVICE_TOKEN: TOKEN,
        DOMAIN_ADDRESS: `localhost:${domain.settings.GRPC_PORT}`,
        GRPC_TLS_CA_FILE: files.GRPC_TLS_CERT_FILE,
      },
    });
  });

  test('an edge elsewhere gives the same read, and is ready', async () => {
    const [apiKey] = domain.demo().apiKeys;
    expect(await idsOf(await readList(edge, apiKey?.key ?? ''))).toEqual(apiKey?.instanceIntegrationIds);
    expect((await fetch(`${edge.opsUrl}/readyz`)).status).toBe(200);
  });

  test('a request id that the caller gave goes through edge and domain into both logs', async () => {
    const [apiKey] = domain.demo().apiKeys;
    const response = await readList(edge, apiKey?.key ?? '', { 'x-request-id': 'trace-me-4711' });
    expect(response.headers.get('x-request-id')).toBe('trace-me-4711');
    const seen = await Promise.all(
      [edge, domain].map(({ output }) => output.nextLine(({ requestId }) => requestId === 'trace-me-4711')),
    );
    expect(seen).toMatchObject([
      { role: 'edge', msg: 'request', operation: 'listInstanceIntegrations', status: 200 },
      { role: 'domain', msg: 'call', caller: 'service', code: 'OK' },
    ]);
  });

  test('a request id of a purge, as the worker makes it, is in the log line of the domain', async () => {
    const channel = new RpcChannel(
      `localhost:${domain.settings.GRPC_PORT}`,
      TOKEN,
      credentials.createSsl(Buffer.from(certificate)),
    );
    const requestId = 'purge-2026-07-01T10:00:00Z/batch-1/1';
    await channel.clientOf(MaintenanceServiceService).purgeExpired({ limit: 10 }, { requestId });
    channel.close();
    const line = await domain.output.nextLine((candidate) => candidate.requestId === requestId);
    expect(line).toMatchObject({
      role: 'domain',
      method: expect.stringContaining('/PurgeExpired'),
      code: 'OK',
    });
  });

  test.each([
    ['another token', { SERVICE_TOKEN: 'another-token-that-is-long-enough-too' }, 500],
    ['no authority to trust', { GRPC_TLS_CA_FILE: undefined }, 503],
  ])('an edge with %s reads nothing', async (_, env, status) => {
    const stranger = await services.start({ command: 'edge', env: { ...edgeSettings(edge), ...env } });
    const response = await readList(stranger, domain.demo().apiKeys[0]?.key ?? '');
    expect(response.status).toBe(status);
    await stranger.stop();
  });
});

test('on PostgreSQL the service gives the same reads, and gives them again after a restart', async () => {
  const database = await newPostgresDatabase();
  const first = await services.start({ env: { DATABASE_URL: database.url } });
  const { apiKeys } = first.demo();
  for (const { key, instanceIntegrationIds } of apiKeys) {
    expect(await idsOf(await readList(first, key))).toEqual(instanceIntegrationIds);
  }
  expect(await first.stop()).toEqual({ code: 0, signal: null });
  const again = { command: 'domain', dataDir: first.dataDir } as const;
  const second = await services.start({ ...again, env: { DATABASE_URL: database.url } });
  expect(second.demo().apiKeys).toEqual(apiKeys);
  await second.stop();
  await database.drop();
});

function edgeSettings({ settings }: ServiceProcess) {
  const { SERVICE_TOKEN, DOMAIN_ADDRESS, GRPC_TLS_CA_FILE } = settings;
  return { SERVICE_TOKEN, DOMAIN_ADDRESS, GRPC_TLS_CA_FILE };
}
