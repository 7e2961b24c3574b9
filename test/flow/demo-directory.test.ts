import { beforeAll, describe, expect, test } from '@jest/globals';
import { demoSeed } from '../../src/domain/demo/seed.js';
import { type ServiceProcess, serviceProcesses } from '../support/service-process.js';

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

describe('the directory of a demo environment', () => {
  let service: ServiceProcess;
  let clients: Client[];

  beforeAll(async () => {
    service = await services.start();
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
          ...(status === 200 ? body : []).map((client) => ({ ...client, key, path: `${path}/${client.id}` })),
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
