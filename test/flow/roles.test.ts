import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { credentials } from '@grpc/grpc-js';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { MaintenanceServiceService } from '../../generated/proto/integration/maintenance/v1/maintenance.js';
import { OperatorServiceService } from '../../generated/proto/integration/operator/v1/operator.js';
import { ErrorCode } from '../../src/errors/service-error.js';
import { RpcChannel } from '../../src/rpc/client.js';
import { refusalOf } from '../rpc/rig.js';
import { newPostgresDatabase } from '../support/databases.js';
import { freePorts } from '../support/free-ports.js';
import { roleTokens } from '../support/role-tokens.js';
import { newAuthority } from '../support/self-signed-certificate.js';
import { type ServiceProcess, serviceProcesses } from '../support/service-process.js';
import { idsOf, readList } from './reading.js';

const services = serviceProcesses();

describe('roles that run by themselves, over TCP with TLS', () => {
  let domain: ServiceProcess;
  let edge: ServiceProcess;
  let rolesAddress: string;
  let edgeCertificate: { key: Buffer; certificate: Buffer };
  let replaceServerCertificate: () => void;
  const servers = newAuthority('servers');
  const clients = newAuthority('clients');
  const authority = Buffer.from(servers.certificate);
  const asEdge = () => credentials.createSsl(authority, edgeCertificate.key, edgeCertificate.certificate);

  beforeAll(async () => {
    const directory = services.newDirectory();
    const write = (name: string, text: string) => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    replaceServerCertificate = () => {
      const { certificate, key } = servers.issue();
      write('server.crt', certificate);
      write('server.key', key);
    };
    replaceServerCertificate();
    const { certificate, key } = clients.issue();
    edgeCertificate = { key: Buffer.from(key), certificate: Buffer.from(certificate) };
    const [port] = await freePorts(1);
    rolesAddress = `localhost:${port}`;
    domain = await services.start({
      command: 'domain',
      env: {
        ...roleTokens,
        GRPC_TLS_CERT_FILE: join(directory, 'server.crt'),
        GRPC_TLS_KEY_FILE: join(directory, 'server.key'),
        GRPC_TLS_CLIENT_CA_FILE: write('clients.crt', clients.certificate),
        ROLES_ADDRESS: rolesAddress,
      },
    });
    edge = await services.start({
      command: 'edge',
      env: {
        EDGE_TOKEN: roleTokens.EDGE_TOKEN,
        DOMAIN_ADDRESS: rolesAddress,
        GRPC_TLS_CA_FILE: write('servers.crt', servers.certificate),
        GRPC_TLS_CLIENT_CERT_FILE: write('edge.crt', certificate),
        GRPC_TLS_CLIENT_KEY_FILE: write('edge.key', key),
      },
    });
  });

  test('an edge elsewhere gives the same read, and is ready', async () => {
    const [apiKey] = domain.demo().apiKeys;
    expect(await idsOf(await readList(edge, apiKey?.key ?? ''))).toEqual(apiKey?.instanceIntegrationIds);
    expect(await edge.readiness()).toMatchObject({ status: 'ready' });
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
      { role: 'domain', msg: 'call', caller: 'edge', code: 'OK' },
    ]);
  });

  test('a request id of a purge, as the worker makes it, is in the log line of the domain', async () => {
    const channel = new RpcChannel(rolesAddress, roleTokens.MAINTENANCE_TOKEN, { credentials: asEdge() });
    const requestId = 'purge-2026-07-01T10:00:00Z/batch-1/1';
    await channel
      .clientOf(MaintenanceServiceService)
      .purgeExpired({ limit: 10 }, { requestId, deadlineMs: 60_000 });
    channel.close();
    const line = await domain.output.nextLine((candidate) => candidate.requestId === requestId);
    expect(line).toMatchObject({
      role: 'domain',
      method: expect.stringContaining('/PurgeExpired'),
      code: 'OK',
    });
  });

  test.each(Object.entries(roleTokens))('the gRPC port for all others knows no %s', async (_, token) => {
    const channel = new RpcChannel(`localhost:${domain.settings.GRPC_PORT}`, token, {
      credentials: credentials.createSsl(authority),
    });
    const call = { requestId: 'r', deadlineMs: 60_000 };
    const refusals = await Promise.all([
      refusalOf(
        channel.clientOf(OperatorServiceService).listIntegrations({ pageSize: 0, pageToken: '' }, call),
      ),
      refusalOf(channel.clientOf(MaintenanceServiceService).purgeExpired({ limit: 1 }, call)),
    ]);
    channel.close();
    expect(refusals.map(({ code, internal }) => [code, internal])).toEqual([
      [ErrorCode.SERVICE_TOKEN_INVALID, expect.stringContaining('refused with UNAUTHENTICATED: ')],
      [ErrorCode.UNAVAILABLE, expect.stringContaining('UNIMPLEMENTED')],
    ]);
  });

  test('edge and worker find no service for operators on their port, and no token of the database works there', async () => {
    const ways = [roleTokens.EDGE_TOKEN, domain.demo().operatorToken].map(
      (token) => new RpcChannel(rolesAddress, token, { credentials: asEdge() }),
    );
    const call = { requestId: 'r', deadlineMs: 60_000 };
    const list = { pageSize: 0, pageToken: '' };
    const refusals = await Promise.all([
      refusalOf((ways[0] as RpcChannel).clientOf(OperatorServiceService).listIntegrations(list, call)),
      refusalOf((ways[1] as RpcChannel).clientOf(MaintenanceServiceService).purgeExpired({ limit: 1 }, call)),
    ]);
    for (const way of ways) {
      way.close();
    }
    expect(refusals.map(({ internal }) => internal)).toEqual([
      expect.stringContaining('UNIMPLEMENTED'),
      expect.stringContaining('refused with UNAUTHENTICATED: '),
    ]);
  });

  const uncertified = {
    GRPC_TLS_CLIENT_CERT_FILE: undefined,
    GRPC_TLS_CLIENT_KEY_FILE: undefined,
  };
  test.each<[string, Record<string, string | undefined>, number]>([
    ['another token', { EDGE_TOKEN: 'another-token-that-is-long-enough-too' }, 500],
    ['the token of the relay', { EDGE_TOKEN: roleTokens.RELAY_TOKEN }, 500],
    ['no authority to trust, and so no TLS', { ...uncertified, GRPC_TLS_CA_FILE: undefined }, 503],
    ['no certificate', uncertified, 503],
  ])('an edge with %s reads nothing', async (_, env, status) => {
    const stranger = await services.start({ command: 'edge', env: { ...edgeSettings(edge), ...env } });
    const response = await readList(stranger, domain.demo().apiKeys[0]?.key ?? '');
    expect(response.status).toBe(status);
    await stranger.stop();
  });

  test('a new certificate of the domain is in use without a restart, for edges that run and those that start', async () => {
    const endOf = async () =>
      /tls_certificate_not_after_seconds\{.*certificate="own".*\} (\d+)/.exec(
        await (await fetch(`${domain.opsUrl}/metrics`)).text(),
      )?.[1];
    const before = await certificateOn(rolesAddress);
    expect(Number(await endOf())).toBe(Date.parse(before.validTo) / 1_000);
    replaceServerCertificate();
    await domain.output.nextLine(({ msg }) => msg === 'certificate files have changed and are in use');
    const ports = [rolesAddress, `localhost:${domain.settings.GRPC_PORT}`];
    const [after, onGrpcPort] = await Promise.all(ports.map(certificateOn));
    expect(after?.fingerprint256).not.toBe(before.fingerprint256);
    expect(onGrpcPort?.fingerprint256).toBe(after?.fingerprint256);
    const later = await services.start({ command: 'edge', env: edgeSettings(edge) });
    const { key = '', instanceIntegrationIds } = domain.demo().apiKeys[0] ?? {};
    for (const one of [edge, later]) {
      expect(await idsOf(await readList(one, key))).toEqual(instanceIntegrationIds);
    }
    await later.stop();
  });
});

test('a role that cannot stop cleanly says so, and not that it could not start', async () => {
  const fault = `import { Server } from 'node:http';
    Server.prototype.close = () => { throw new Error('a planted fault'); };`;
  const edge = await services.start({
    command: 'edge',
    env: { ...roleTokens, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}` },
  });
  expect(await edge.stop()).toEqual({ code: 1, signal: null });
  const errors = edge.output.lines().filter(({ level }) => level === 'error');
  expect(errors).toMatchObject([{ msg: 'could not stop cleanly', reason: 'a planted fault' }]);
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

/** What a new connection is shown. */
async function certificateOn(address: string): Promise<X509Certificate> {
  const port = Number(address.split(':').at(-1));
  const socket = connect({ port, host: 'localhost', rejectUnauthorized: false });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  const shown = socket.getPeerX509Certificate();
  socket.destroy();
  return shown as X509Certificate;
}

function edgeSettings({ settings }: ServiceProcess) {
  const { EDGE_TOKEN, DOMAIN_ADDRESS } = settings;
  const { GRPC_TLS_CA_FILE, GRPC_TLS_CLIENT_CERT_FILE, GRPC_TLS_CLIENT_KEY_FILE } = settings;
  const certificates = { GRPC_TLS_CA_FILE, GRPC_TLS_CLIENT_CERT_FILE, GRPC_TLS_CLIENT_KEY_FILE };
  return { EDGE_TOKEN, DOMAIN_ADDRESS, ...certificates };
}
