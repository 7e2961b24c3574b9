import type { components } from '../../../generated/openapi/gateway.js';
import { eventually } from '../../support/eventually.js';

type Schemas = components['schemas'];

export interface Reader {
  gatewayUrl: string;
  apiKey: string;
  instanceIntegrationId: string;
}

/** What the gateway says at the end of a storm, as a mirror should have it. */
export interface Listed {
  /** By type and id. */
  resources: Record<string, unknown>;
  /** By client and type, without those of which there is nothing. */
  digests: Record<string, { count: number; digest: number }>;
}

/** By the plain lists, and by the digests of each client. */
export async function listedBy(reader: Reader): Promise<Listed> {
  const listed: Listed = { resources: {}, digests: {} };
  const note = (type: string, rows: readonly { id?: string; userId?: string }[]) => {
    for (const row of rows) {
      listed.resources[`${type} ${row.id ?? row.userId}`] = row;
    }
  };
  const clients = await read<{ id: string }[]>(reader, 'v1', 'clients');
  note('client', clients);
  for (const { id } of clients) {
    const list = <T extends object>(name: string, version = 'v1') =>
      read<T[]>(reader, version, `clients/${id}/${name}`);
    note('worker', await list('workers', 'v2'));
    note('user', await list('users'));
    listed.resources[`jobTitles ${id}`] = await list('job-titles');
    const structure = await read<Schemas['OrganizationStructure']>(
      reader,
      'v1',
      `clients/${id}/organization-structure`,
    );
    note('unitType', structure.unitsTypes);
    note('unit', structure.units);
    note('location', structure.locations);
    const { entities } = await read<Schemas['ChangesDigest']>(reader, 'v1', `changes/digest?clientId=${id}`);
    for (const { type, count, digest } of entities.filter(({ count }) => count > 0)) {
      listed.digests[`${id} ${type}`] = { count, digest };
    }
  }
  return listed;
}

/** Others use the same server of PostgreSQL, and their transactions make digests wait. */
function read<T>(reader: Reader, version: string, path: string): Promise<T> {
  return eventually(`an answer to ${path}`, () => readOnce<T>(reader, version, path));
}

async function readOnce<T>(reader: Reader, version: string, path: string): Promise<T | undefined> {
  const { gatewayUrl, apiKey, instanceIntegrationId } = reader;
  const url = `${gatewayUrl}/${version}/instance-integrations/${instanceIntegrationId}/${path}`;
  const response = await fetch(url, { headers: { 'x-api-key': apiKey } });
  if (response.status === 503) {
    return undefined;
  }
  if (response.status !== 200) {
    throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  }
  return (await response.json()) as T;
}
