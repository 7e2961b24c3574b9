import { cpSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DirectoryServiceService } from '../../generated/proto/integration/directory/v1/directory.js';
import { demoSeed } from '../../src/domain/demo/seed.js';
import { hashSecret } from '../../src/identifiers/random-secrets.js';
import { RpcChannel } from '../../src/rpc/client.js';
import { roleTokens } from '../support/role-tokens.js';
import { type ServiceProcess, serviceProcesses } from '../support/service-process.js';
import { idsOf, readList } from './reading.js';

const services = serviceProcesses();

interface Listed {
  id: string;
  name: string;
}

interface Client extends Listed {
  /** Where it is read, without the version. */
  path: string;
  key: string;
}

describe('a demo environment', () => {
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await services.start({ isFirst: true });
  });

  test('gives each of its keys the instance integrations of its integration only', async () => {
    const { apiKeys } = service.demo();
    expect(apiKeys).toHaveLength(2);
    const lists = await Promise.all(apiKeys.map(async ({ key }) => idsOf(await readList(service, key))));
    expect(lists).toEqual(apiKeys.map(({ instanceIntegrationIds }) => instanceIntegrationIds));
    expect(new Set(lists.flat()).size).toBe(3);
  });

  test('answers 304 without a body to the tag it gave, and to no other key’s', async () => {
    const [mine, other] = service.demo().apiKeys.map(({ key }) => key) as [string, string];
    const tag = (await readList(service, mine)).headers.get('etag') ?? '';
    const again = await readList(service, mine, { 'if-none-match': tag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await readList(service, other, { 'if-none-match': tag })).status).toBe(200);
  });

  test('writes its credentials to a file that only its owner can read', () => {
    expect(statSync(service.demoFile).mode & 0o777).toBe(0o600);
    const { apiKeys, applications, people, ...others } = service.demo();
    const { operatorToken, platformToken, supportToken, auditorToken, keyCustodianToken, ...rest } = others;
    expect(rest).toEqual({
      baseUrl: `http://localhost:${service.settings.SIGN_ON_PORT}`,
      gatewayUrl: `http://localhost:${service.settings.GATEWAY_PORT}`,
      grpcAddress: `127.0.0.1:${service.settings.GRPC_PORT}`,
      demoAppUrl: `http://localhost:${service.settings.DEMO_APP_PORT}`,
      // TEMPORAL_ADDRESS names a server elsewhere, whose UI is unknown.
      temporalUiUrl: null,
      docsUrl: `http://localhost:${service.settings.GATEWAY_PORT}/docs`,
    });
    expect(operatorToken).toMatch(/^operator_demo_[0-9A-Za-z]{48}$/);
    expect(platformToken).toMatch(/^platform_demo_[0-9A-Za-z]{48}$/);
    expect(supportToken).toMatch(/^support_demo_[0-9A-Za-z]{48}$/);
    expect(auditorToken).toMatch(/^auditor_demo_[0-9A-Za-z]{48}$/);
    expect(keyCustodianToken).toMatch(/^key_custodian_demo_[0-9A-Za-z]{48}$/);
    for (const { key, integrationId, instanceIntegrationIds } of apiKeys) {
      expect(key).toMatch(/^ik_demo_[0-9A-Za-z]{56}$/);
      expect(integrationId).toMatch(/^itg_[0-9A-Za-z]{22}$/);
      expect(instanceIntegrationIds.every((id) => /^iin_[0-9A-Za-z]{22}$/.test(id))).toBe(true);
    }
    for (const { clientId, clientSecret, type } of applications) {
      expect(clientId).toMatch(/^app_[0-9A-Za-z]{22}$/);
      expect(clientSecret ?? type).toMatch(/^(cs_demo_[0-9A-Za-z]{48}|public)$/);
    }
    expect([applications.length, people.length]).toEqual([5, 8]);
  });

  test('says where everything is, and shows the credentials of the file', async () => {
    await service.errors.nextText('Ctrl-C ends everything');
    const said = service.errors.text();
    const { gatewayUrl, baseUrl, demoAppUrl } = service.demo();
    for (const url of [gatewayUrl, baseUrl, demoAppUrl]) {
      expect(said).toContain(url);
    }
    expect(said).not.toContain('Temporal UI');
    expect(said).toContain(service.demo().operatorToken);
    expect(said).toContain(service.demo().people[0]?.email);
  });

  test('fills in the forms of its documentation with what its key can read, on this machine alone', async () => {
    const { gatewayUrl, apiKeys } = service.demo();
    const ask = (headers = {}) =>
      fetch(`${gatewayUrl}/docs/try-it/values`, {
        method: 'POST',
        headers: { origin: gatewayUrl, ...headers },
      });
    const { apiKey, ids } = (await (await ask()).json()) as { apiKey: string; ids: Record<string, string> };
    expect(apiKey).toBe(apiKeys[0]?.key);
    const client = `${gatewayUrl}/v2/instance-integrations/${ids.instanceIntegrationId}/clients/${ids.clientId}`;
    const worker = await fetch(`${client}/workers/${ids.workerId}`, { headers: { 'x-api-key': apiKey } });
    expect([worker.status, await worker.json()]).toEqual([
      200,
      expect.objectContaining({ id: ids.workerId }),
    ]);
    const user = `${client.replace('/v2/', '/v1/')}/users/${ids.userId}`;
    expect((await fetch(user, { headers: { 'x-api-key': apiKey } })).status).toBe(200);
    const passedOn = await ask({ 'x-forwarded-for': '192.0.2.1' });
    expect([passedOn.status, await passedOn.text()]).toEqual([204, '']);
  });

  test('answers every curl command of the reference of the gateway as it stands there', async () => {
    const { gatewayUrl, apiKeys } = service.demo();
    const list = await (await fetch(`${gatewayUrl}/llms.txt`)).text();
    const pages = [...new Set(list.match(/https?:\S+?\/docs\/reference\/gateway\/[\w-]+\.md/g))];
    const texts = await Promise.all(pages.map(async (page) => (await fetch(page)).text()));
    const commands = texts.flatMap((text) => [
      ...text.matchAll(/^curl -H "x-api-key: \$API_KEY" \\\n {2}"(\S+)"$/gm),
    ]);
    const headers = { 'x-api-key': apiKeys[0]?.key ?? '' };
    const statuses = await Promise.all(
      commands.map(async ([, address = '']) => [address, (await fetch(address, { headers })).status]),
    );
    expect(statuses.length).toBeGreaterThan(10);
    expect(statuses.filter(([, status]) => status !== 200)).toEqual([]);
  });

  test('logs no credential, whatever else it logs', async () => {
    await service.logged();
    const { apiKeys, operatorToken, platformToken, applications, people } = service.demo();
    const secrets = applications.flatMap(({ clientSecret }) => clientSecret ?? []);
    const passwords = people.map(({ password }) => password);
    const logged = service.output
      .lines()
      .map((line) => JSON.stringify(line))
      .join('\n');
    const keys = apiKeys.map(({ key }) => key);
    for (const secret of [...keys, operatorToken, platformToken, ...secrets, ...passwords]) {
      expect(logged).not.toContain(secret);
    }
    expect(logged).toContain('listInstanceIntegrations');
  });

  describe('has a directory that', () => {
    let clients: Client[];

    beforeAll(async () => {
      clients = await reachableClients();
    });

    async function read<T>(path: string, key: string): Promise<{ status: number; body: T }> {
      const response = await fetch(`${service.gatewayUrl}${path}`, { headers: { 'x-api-key': key } });
      return { status: response.status, body: (await response.json()) as T };
    }

    async function reachableClients(): Promise<Client[]> {
      const found: Client[] = [];
      for (const { key, instanceIntegrationIds } of service.demo().apiKeys) {
        for (const connection of instanceIntegrationIds) {
          const path = `/instance-integrations/${connection}/clients`;
          const { status, body } = await read<Listed[]>(`/v1${path}`, key);
          found.push(
            ...(status === 200 ? body : []).map((client) => ({
              ...client,
              key,
              path: `${path}/${client.id}`,
            })),
          );
        }
      }
      return found;
    }

    const of = <T>({ path, key }: Client, rest: string, version = 'v1') =>
      read<T>(`/${version}${path}${rest}`, key).then(({ body }) => body);

    test('has three clients, each reached by one of the keys, and a connection that is not set up', async () => {
      expect(clients.map(({ name }) => name)).toEqual([
        'Tallowfern Bakeries',
        'Quillmere Logistics',
        'Ostrander Clinics',
      ]);
      const refusals: unknown[] = [];
      for (const { key, instanceIntegrationIds } of service.demo().apiKeys) {
        for (const id of instanceIntegrationIds) {
          const { status, body } = await read<{ message: string }>(
            `/v1/instance-integrations/${id}/clients`,
            key,
          );
          refusals.push(...(status === 200 ? [] : [[status, body.message]]));
        }
      }
      expect(refusals).toEqual([[404, 'Instance integration not configured']]);
    });

    test('has 500 workers in one of them, each in a unit and all but some at a location', async () => {
      const [tallowfern] = clients as [Client];
      const workers = await of<
        { organizationUnits: Listed[]; organizationUnit: Listed; organizationLocation: unknown }[]
      >(tallowfern, '/workers', 'v2');
      expect(workers).toHaveLength(500);
      expect(await of<unknown[]>(tallowfern, '/workers')).toHaveLength(500);
      for (const { organizationUnits, organizationUnit } of workers) {
        expect(organizationUnits).toContainEqual(organizationUnit);
      }
      expect(workers.some(({ organizationUnits }) => organizationUnits.length > 1)).toBe(true);
      const nowhere = workers.filter(({ organizationLocation }) => organizationLocation === null);
      expect([nowhere.length > 0, nowhere.length < 100]).toEqual([true, true]);
    });

    test('has three layers of units, each unit under one of the layer above', async () => {
      interface Structure {
        unitsTypes: Listed[];
        units: (Listed & { unitTypeId: string; parentUnitId: string | null })[];
        locations: Listed[];
      }
      const { unitsTypes, units, locations } = await of<Structure>(
        clients[0] as Client,
        '/organization-structure',
      );
      expect(unitsTypes.map(({ name }) => name)).toEqual(['Division', 'Department', 'Team']);
      const layerOf = new Map(
        units.map(({ id, unitTypeId }) => [id, unitsTypes.findIndex((type) => type.id === unitTypeId)]),
      );
      for (const { id, parentUnitId } of units) {
        const above = parentUnitId === null ? -1 : layerOf.get(parentUnitId);
        expect(layerOf.get(id)).toBe((above ?? Number.NaN) + 1);
      }
      expect(new Set(layerOf.values())).toEqual(new Set([0, 1, 2]));
      expect(locations.length).toBeGreaterThan(2);
      expect((await of<string[]>(clients[0] as Client, '/job-titles')).length).toBeGreaterThan(2);
    });

    test('has users in every status, of whom the DELETED are in no list and answer at their own path', async () => {
      const [tallowfern] = clients as [Client];
      const listed = await of<{ userId: string; status: string; manager: { id: string } | null }[]>(
        tallowfern,
        '/users',
      );
      expect(new Set(listed.map(({ status }) => status))).toEqual(new Set(['ACTIVE', 'INVITED', 'INACTIVE']));
      const [owner] = listed;
      expect(owner?.manager).toBeNull();
      expect(listed.slice(1).every(({ manager }) => manager?.id === owner?.userId)).toBe(true);

      const statuses: string[] = [];
      for (const { id } of demoSeed.clients[0]?.users ?? []) {
        statuses.push((await of<{ status: string }>(tallowfern, `/users/${id}`)).status);
      }
      expect(new Set(statuses)).toEqual(new Set(['ACTIVE', 'INVITED', 'INACTIVE', 'DELETED']));
      expect(statuses.filter((status) => status !== 'DELETED')).toHaveLength(listed.length);
    });
  });
});

/** What a restart finds in the directory, and whether the earlier credentials stay valid. */
const mendings: [title: string, spoil: (dataDir: string) => void, sameCredentials: boolean][] = [
  ['everything as it was', () => undefined, true],
  [
    'the database lost',
    (dataDir) => remove(dataDir, 'integration.db', 'integration.db-wal', 'integration.db-shm'),
    true,
  ],
  ['demo.json lost', (dataDir) => remove(dataDir, 'demo.json'), false],
  ['demo.json cut off', (dataDir) => writeFileSync(join(dataDir, 'demo.json'), '{"apiKeys": [{'), false],
  ['another demo.json', (dataDir) => writeFileSync(join(dataDir, 'demo.json'), '{"name": "mine"}'), false],
];

test('a demo environment serves although the reader of what it says to people has left', async () => {
  const service = await services.launch();
  service.leaveErrors();
  await service.ready();
  await service.readiness();
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});

describe('a demo environment that is started again', () => {
  const env = roleTokens;
  let first: ServiceProcess;

  beforeAll(async () => {
    first = await services.start({ command: 'domain', env });
    expect(await first.stop()).toEqual({ code: 0, signal: null });
  });

  test.each(mendings)('serves with %s', async (_, spoil, sameCredentials) => {
    const before = first.demo();
    const dataDir = services.newDirectory();
    cpSync(first.dataDir, dataDir, { recursive: true });
    cpSync(`${first.dataDir}.keys`, `${dataDir}.keys`, { recursive: true });
    spoil(dataDir);

    const second = await services.start({ command: 'domain', dataDir, env });
    const after = second.demo();
    expect(after.apiKeys.map(({ key }) => key).join() === before.apiKeys.map(({ key }) => key).join()).toBe(
      sameCredentials,
    );
    expect(after.operatorToken === before.operatorToken).toBe(sameCredentials);
    expect(statSync(second.demoFile).mode & 0o777).toBe(0o600);
    const channel = new RpcChannel(`unix:${second.dataDir}/run/domain.sock`, env.EDGE_TOKEN);
    for (const { key, instanceIntegrationIds } of after.apiKeys) {
      expect(await idsByRpc(channel, key)).toEqual(instanceIntegrationIds);
    }
    channel.close();
    await second.stop();
  });
});

async function idsByRpc(channel: RpcChannel, key: string): Promise<string[]> {
  const context = { apiKeyHash: hashSecret(key), knownVersions: [], anyVersionKnown: false };
  const ids = { instanceIntegrationId: '', clientId: '', workerId: '', userId: '' };
  const read = { context, operationId: 'listInstanceIntegrations', ...ids };
  const { body } = await channel
    .clientOf(DirectoryServiceService)
    .read(read, { requestId: 'mended', deadlineMs: 60_000 });
  return (JSON.parse(body.toString()) as { id: string }[]).map(({ id }) => id);
}

function remove(dataDir: string, ...files: string[]): void {
  for (const file of files) {
    rmSync(join(dataDir, file), { force: true });
  }
}
