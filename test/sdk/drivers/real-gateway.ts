import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import { type RealGateway, startRealGateway } from '../../support/gateway/real-gateway.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { byTypeAndId } from './changing-gateway.js';
import type { Driven, Outcome } from './line-driver.js';
import { entitiesIn } from './sync/store-file.js';

/** A change as the gateway writes it. */
interface Sent {
  cursor: string;
  entity: { type: string; id: string };
  clientId: string;
  version: number;
  resource: unknown;
}

/** A change as the SDK reads it. */
interface Read {
  type: string;
  clientId: string;
  version: number;
  json: string | null;
}

/** The cases that need a real gateway, with the data of the demo. */
export function describeRealGateway(driver: Driven): void {
  const [{ id: integrationId, connections }] = demoSeed.integrations as [(typeof demoSeed.integrations)[0]];
  const [iin, unconfigured] = connections.map(({ id }) => id) as [string, string];
  const [{ id: cli }] = demoSeed.clients as [(typeof demoSeed.clients)[0]];
  const newDirectory = temporaryDirectories(afterAll);
  let gateway: RealGateway;
  beforeAll(async () => {
    gateway = await startRealGateway();
  });
  afterAll(() => gateway.stop());
  const read = (method: string, args: string[] = [], more: object = {}) => {
    const apiKey = gateway.credentials.apiKeys[integrationId];
    return driver.sdk.gateway({ baseUrl: gateway.url, apiKey, pageSize: 3 }, method, args, { ...more });
  };
  /** The same resource, read by fetch. */
  const bare = async (path: string) => {
    const headers = { 'x-api-key': gateway.credentials.apiKeys[integrationId] as string };
    return (await fetch(`${gateway.url}${path}`, { headers })).json();
  };
  /** All changes as the SDK reads them, without `json`. */
  const allChanges = async () => {
    const all: Read[] = [];
    for (let after: string | null = null, hasMore = true; hasMore; ) {
      const { value }: Outcome = await read('listChanges', [iin], { parameters: { limit: 100, after } });
      all.push(...value.items);
      ({ cursor: after, hasMore } = value);
    }
    return all.map(({ json, ...item }) => item);
  };
  /** The entities that a complete copy has, from the sequence of changes. */
  const listed = async () => {
    const all = await allSent();
    return all
      .map(({ entity, clientId, version, resource }) => ({ ...entity, clientId, version, resource }))
      .sort(byTypeAndId);
  };
  const allSent = async () => {
    const sent: Sent[] = [];
    for (let query = '', items: Sent[]; ; query = `?after=${items.at(-1)?.cursor}`) {
      items = (await bare(`/v1/instance-integrations/${iin}/changes${query}`)) as Sent[];
      if (items.length === 0) {
        return sent;
      }
      sent.push(...items);
    }
  };
  const below = `/instance-integrations/${iin}/clients`;

  describe('over the real gateway', () => {
    test.each([
      ['listInstanceIntegrations', [], '/v1/instance-integrations'],
      ['listClients', [iin], `/v1${below}`],
      ['getClient', [iin, cli], `/v1${below}/${cli}`],
      ['listWorkers', [iin, cli], `/v1${below}/${cli}/workers`],
      ['listWorkersV2', [iin, cli], `/v2${below}/${cli}/workers`],
      ['workers', [iin, cli], `/v2${below}/${cli}/workers`],
      ['listWorkersV1', [iin, cli], `/v1${below}/${cli}/workers`],
      ['listUsers', [iin, cli], `/v1${below}/${cli}/users`],
      ['users', [iin, cli], `/v1${below}/${cli}/users`],
      ['jobTitles', [iin, cli], `/v1${below}/${cli}/job-titles`],
      ['organizationStructure', [iin, cli], `/v1${below}/${cli}/organization-structure`],
    ])('%s returns what the gateway sends', async (method, ids, path) => {
      const { value, error } = await read(method, ids);
      expect(error).toBeUndefined();
      expect(timesApart(value)).toEqual(timesApart(await bare(path)));
    });

    test('listChanges returns what the gateway sends, page by page', async () => {
      const flat = (await allSent()).map(({ entity, ...rest }) => ({ ...rest, ...entity }));
      expect(timesApart(await allChanges())).toEqual(timesApart(flat));
    });

    test('getChangesDigest is that of all changes of the client', async () => {
      const changes = await allChanges();
      const { value: digest } = await read('getChangesDigest', [iin, cli]);
      expect(digest.entities).toContainEqual(expect.objectContaining({ type: 'worker', count: 500 }));
      for (const { type, ...expected } of digest.entities) {
        const own = changes.filter((item) => item.type === type && item.clientId === cli);
        const sum = own.reduce((total, { version }) => total + BigInt(version), 0n);
        expect({ count: own.length, digest: Number(BigInt.asUintN(52, sum)) }).toEqual(expected);
      }
    });

    test('sync keeps a copy with the digests of the gateway', async () => {
      const path = join(newDirectory(), 'copy.sqlite');
      const apiKey = gateway.credentials.apiKeys[integrationId];
      const catchUp = () =>
        driver.sdk.sync('catchUp', { baseUrl: gateway.url, apiKey }, [iin], { store: path, waitSeconds: 1 });
      const ended = { differences: [], errors: [], failure: null };
      expect((await catchUp()).value).toMatchObject(ended);
      expect(entitiesIn(path)).toEqual(await listed());
      const workers = (await bare(`/v2${below}/${cli}/workers`)) as { id: string }[];
      const [present, leaving] = workers.map(({ id }) => id) as [string, string];
      await gateway.database.write(async (writer) => {
        const of = (id: string) => writer.updateTable('workers').where('id', '=', id);
        await of(present).set({ first_name: 'Ada', full_name: 'Ada Rao' }).execute();
        await of(leaving).set({ offboarded_at: Date.now() }).execute();
      });
      expect((await catchUp()).value).toMatchObject(ended);
      expect(entitiesIn(path)).toEqual(await listed());
      expect(entitiesIn(path)).toContainEqual(
        expect.objectContaining({ id: present, resource: expect.objectContaining({ fullName: 'Ada Rao' }) }),
      );
    });

    test('getWorker and getUser return what their lists contain', async () => {
      const [workers, users] = [await read('listWorkersV2', [iin, cli]), await read('listUsers', [iin, cli])];
      expect((await read('getWorker', [iin, cli, workers.value[0].id])).value).toEqual(workers.value[0]);
      expect((await read('getUser', [iin, cli, users.value[0].userId])).value).toEqual(users.value[0]);
    });

    test.each([
      ['listInstanceIntegrations', []],
      ['listClients', [iin]],
      ['getClient', [iin, cli]],
      ['listWorkers', [iin, cli]],
      ['listWorkersV2', [iin, cli]],
      ['listWorkersV1', [iin, cli]],
      ['listUsers', [iin, cli]],
      ['jobTitles', [iin, cli]],
      ['organizationStructure', [iin, cli]],
      ['getChangesDigest', [iin, cli]],
    ])(
      '%s reports no change to a caller with its ETag, and returns the data to others',
      async (method, ids) => {
        const first = await read(method, ids, { ifChanged: null });
        const { value: data } = await read(method, ids);
        expect(first.value).toEqual({ changed: true, etag: expect.stringMatching(/^"/), data });
        const { etag } = first.value;
        expect((await read(method, ids, { ifChanged: etag })).value).toEqual({ changed: false, etag });
        expect((await read(method, ids, { ifChanged: '"old"' })).value).toEqual({
          changed: true,
          etag,
          data,
        });
      },
    );

    test.each([
      ['an unknown client', 'getClient', [iin, `cli_${'0'.repeat(22)}`], 404, 'client_not_found'],
      ['a connection not set up', 'listClients', [unconfigured], 404, 'instance_integration_not_configured'],
      ['an id of another kind', 'getClient', [iin, iin], 400, 'invalid_request'],
    ])('%s is an ApiError with its code and request id', async (_, method, ids, status, code) => {
      const { error } = await read(method, ids);
      expect(error).toMatchObject({ name: 'ApiError', status, code, requestId: expect.stringMatching(/./) });
      expect(error?.fields).toHaveLength(status === 400 ? 1 : 0);
    });
  });
}

/** Languages write the same moment in more ways than one. */
function timesApart(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(timesApart);
  }
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) {
    return new Date(value).toISOString();
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, timesApart(member)]));
}
