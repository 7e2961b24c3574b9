import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import { type RealGateway, startRealGateway } from '../../support/real-gateway.js';
import { sdkDriver } from './driver.js';
import { json, type ScriptedServer, scriptedServers } from './scripted-server.js';

const driver = sdkDriver();
const newServer = scriptedServers();
const [{ id: integrationId, connections }] = demoSeed.integrations as [(typeof demoSeed.integrations)[0]];
const [iin, unconfigured] = connections.map(({ id }) => id) as [string, string];
const [{ id: cli }] = demoSeed.clients as [(typeof demoSeed.clients)[0]];

let gateway: RealGateway;

beforeAll(async () => {
  gateway = await startRealGateway();
}, 60_000);

afterAll(() => gateway.stop());

const read = (method: string, ...args: unknown[]) => {
  const apiKey = gateway.credentials.apiKeys[integrationId];
  return driver.sdk.gateway({ baseUrl: gateway.url, apiKey, retry: false }, method, ...args);
};

describe('over the real gateway', () => {
  test.each([
    ['listInstanceIntegrations', [], { id: iin, createdAt: new Date(demoSeed.createdAt) }],
    ['listClients', [iin], { id: cli, location: { city: 'Portland' } }],
    ['listWorkers', [iin, cli], { id: expect.stringMatching(/^wrk_/), organizationUnits: expect.anything() }],
    ['listWorkersV1', [iin, cli], { id: expect.stringMatching(/^wrk_/), jobTitles: expect.anything() }],
    ['listUsers', [iin, cli], { userId: expect.stringMatching(/^usr_/), clientId: cli }],
  ])('%s answers the list', async (method, ids, first) => {
    const { value, error } = await read(method, ...ids);
    expect(error).toBeUndefined();
    expect(value[0]).toMatchObject(first);
  });

  test('jobTitles answers texts', async () => {
    expect((await read('jobTitles', iin, cli)).value).toContain('Baker');
  });

  test('one of each is the one of its list', async () => {
    const [workers, users] = [await read('listWorkers', iin, cli), await read('listUsers', iin, cli)];
    const [worker, user] = [workers.value[0], users.value[0]];
    expect((await read('getClient', iin, cli)).value).toMatchObject({ id: cli });
    expect((await read('getWorker', iin, cli, worker.id)).value).toEqual(worker);
    expect((await read('getUser', iin, cli, user.userId)).value).toEqual(user);
    expect((await read('organizationStructure', iin, cli)).value).toMatchObject({
      unitsTypes: expect.arrayContaining([{ id: expect.stringMatching(/^out_/), name: expect.any(String) }]),
      locations: expect.arrayContaining([{ id: expect.stringMatching(/^olo_/), name: expect.any(String) }]),
    });
  });

  test.each([
    ['workers', 'listWorkers', 1],
    ['workers', 'listWorkers', 3],
    ['users', 'listUsers', 2],
    ['users', 'listUsers', 1000],
  ])('%s, page by page, are what %s answers at once (%d on a page)', async (paged, list, pageSize) => {
    const [pages, whole] = [await read(paged, iin, cli, { pageSize }), await read(list, iin, cli)];
    expect(whole.value.length).toBeGreaterThan(3);
    expect(pages.value).toEqual(whole.value);
  });

  test.each([
    'listClients',
    'listWorkers',
    'listWorkersV1',
    'listUsers',
    'jobTitles',
    'organizationStructure',
  ])(
    '%s says that nothing changed to who holds its ETag, and gives the data to who holds none',
    async (method) => {
      const ids = method === 'listClients' ? [iin] : [iin, cli];
      const first = await read(method, ...ids, { ifChanged: null });
      expect(first.value).toEqual({
        changed: true,
        etag: expect.stringMatching(/^"/),
        data: (await read(method, ...ids)).value,
      });
      const { etag } = first.value;
      expect((await read(method, ...ids, { ifChanged: etag })).value).toEqual({ changed: false, etag });
      expect((await read(method, ...ids, { ifChanged: '"old"' })).value).toMatchObject({
        changed: true,
        etag,
      });
    },
  );

  test.each([
    ['an unknown client', () => read('getClient', iin, `cli_${'0'.repeat(22)}`), 404, 'client_not_found'],
    [
      'a connection not set up',
      () => read('listClients', unconfigured),
      404,
      'instance_integration_not_configured',
    ],
    ['an id of another kind', () => read('getClient', iin, iin), 400, 'invalid_request'],
  ])('%s is an ApiError with its code and request id', async (_, asked, status, code) => {
    const { error } = await asked();
    expect(error).toMatchObject({ name: 'ApiError', status, code, requestId: expect.stringMatching(/./) });
    expect(error?.fields).toHaveLength(status === 400 ? 1 : 0);
  });
});

describe('paging', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await newServer();
  });

  const users = (options = {}) =>
    driver.sdk.gateway(
      { baseUrl: server.url, retry: { baseDelayMs: 1 } },
      'users',
      'iin_1',
      'cli_1',
      options,
    );
  const onePage = (id: string, link?: string) =>
    json([{ userId: id, createdAt: '2026-06-11T16:02:19.350Z' }], link === undefined ? {} : { link });
  const ids = async (asked: ReturnType<typeof users>) =>
    (await asked).value?.map(({ userId }: { userId: string }) => userId);

  test('follows the address of the next page, however Link says it', async () => {
    server.answers(
      onePage('a', '</v1/x?limit=1&cursor=A>; rel="next"'),
      onePage('b', '<?cursor=P>; rel=prev, <?cursor=B,2>; title="x"; rel="last next"'),
      onePage('c', '<?cursor=C>; rel="nextish"'),
    );
    expect(await ids(users({ pageSize: 1 }))).toEqual(['a', 'b', 'c']);
    expect(server.asked.map(({ path }) => path)).toEqual([
      '/v1/instance-integrations/iin_1/clients/cli_1/users?limit=1',
      '/v1/x?limit=1&cursor=A',
      '/v1/x?cursor=B,2',
    ]);
  });

  test('never takes the key to another server: the service may know itself under another name', async () => {
    server.answers(onePage('a', '<https://gateway.example.com/v1/users?cursor=A>; rel="next"'), onePage('b'));
    expect(await ids(users())).toEqual(['a', 'b']);
    expect(server.asked[1]?.path).toBe('/v1/instance-integrations/iin_1/clients/cli_1/users?cursor=A');
  });

  test('does not go round in a circle', async () => {
    server.answers(onePage('a', '<?limit=200>; rel="next"'));
    expect((await users()).error).toMatchObject({ name: 'ApiError', code: 'unexpected_response' });
    expect(server.asked).toHaveLength(1);
  });

  test('a page that fails is tried again, and those before it are not', async () => {
    const failure = json({ code: 'unavailable' }, {}, 503);
    server.answers(onePage('a', '<?cursor=A>; rel="next"'), failure, onePage('b'));
    expect(await ids(users())).toEqual(['a', 'b']);
    expect(server.asked).toHaveLength(3);
  });
});
