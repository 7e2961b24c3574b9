import type { ClientId, InstanceId, InstanceIntegrationId } from '../../../generated/ids.js';
import type { components } from '../../../generated/openapi/gateway.js';
import { digestOf, type ReaderPlace, sequenceOf } from '../../../src/domain/directory/changes.js';
import { ENTITY_TYPES } from '../../../src/domain/directory/stores.js';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import { changeStore } from '../../../src/store/adapters/changes.js';
import { clientStore, userStore, workerStore } from '../../../src/store/adapters/directory.js';
import { organizationStore } from '../../../src/store/adapters/organization.js';
import type { Database } from '../../../src/store/database.js';
import { eventually } from '../eventually.js';
import { cursors as ofTests } from './cursors.js';

type Schemas = components['schemas'];
type Change = Schemas['Change'];
type Digest = Schemas['ChangesDigest']['entities'][number];

const ALL = { after: undefined, limit: 100_000 };
const MODULUS = 2n ** 52n;

/** A copy of what the sequence of changes has of one instance. */
export interface Mirror {
  readonly items: ReadonlyMap<string, Change>;
  readonly cursor: string | undefined;
  /** What the cursor says. */
  readonly place: ReaderPlace;
  /** Waits until all that is committed can be read, reads it to its end, and returns the items that came. */
  follow(limit?: number): Promise<Change[]>;
  /** Reads one page, of which it may store only the first items. */
  step(limit: number, stored?: number): Promise<Change[]>;
  /** The mirror's state as another integrator would begin with it. */
  goOnFrom(cursor: string | undefined): void;
  /** The same with a cursor that says something else. */
  goOnWith(changed: Partial<ReaderPlace>): void;
  digestsOf(clientId: string): Digest[];
}

export function mirrorOf(
  database: Database,
  instanceId: string,
  owner = newPublicId('InstanceIntegrationId'),
  cursors = ofTests,
): Mirror {
  const instanceIntegrationId = owner as InstanceIntegrationId;
  const items = new Map<string, Change>();
  let cursor: string | undefined;
  const dependencies = {
    changes: changeStore(database),
    cursors,
    clients: clientStore(database),
    workers: workerStore(database),
    users: userStore(database),
    organization: organizationStore(database),
  };
  const visitor = { instanceId: instanceId as InstanceId, rateLimit: undefined } as never;
  const readPage = async (limit: number, stored = limit) => {
    const sequence = await sequenceOf(dependencies, visitor, {
      ...{ instanceIntegrationId, limit },
      ...(cursor !== undefined && { cursor }),
    });
    const { rows, nextCursor } = await sequence.page();
    const changes = rows.slice(0, stored).map(({ json }) => JSON.parse(json) as Change);
    for (const change of changes) {
      apply(items, change);
    }
    cursor = (stored < rows.length ? undefined : nextCursor) ?? changes.at(-1)?.cursor ?? cursor;
    return { changes, isMore: nextCursor !== undefined };
  };
  const placeOf = (text = '') => cursors.read(text, instanceIntegrationId) as ReaderPlace;
  return {
    items,
    get cursor() {
      return cursor;
    },
    get place() {
      return placeOf(cursor);
    },
    step: async (limit, stored) => (await readPage(limit, stored)).changes,
    follow: async (limit = 1_000) => {
      await allIsReadable(database, instanceId);
      const all: Change[] = [];
      for (let isMore = true; isMore; ) {
        const page = await readPage(limit);
        all.push(...page.changes);
        isMore = page.isMore;
      }
      return all;
    },
    goOnFrom: (from) => {
      cursor = from;
    },
    goOnWith: (changed) => {
      cursor = cursors.write({ ...placeOf(cursor), ...changed }, instanceIntegrationId);
    },
    digestsOf: (clientId) =>
      ENTITY_TYPES.map((type) => {
        const own = [...items.values()].filter(
          (item) => item.clientId === clientId && item.entity.type === type,
        );
        const sum = own.reduce((total, { version }) => total + BigInt(version), 0n);
        return { type, count: own.length, digest: Number(sum % MODULUS) };
      }),
  };
}

/** On PostgreSQL a transaction of another test on the same server holds readers back until it is over. */
export async function allIsReadable(database: Database, instanceId: string): Promise<void> {
  const changes = changeStore(database);
  const newest = await changes.newestOf(instanceId as InstanceId);
  await eventually('readable changes', async () => (await changes.lives()).end > newest);
}

function apply(items: Map<string, Change>, change: Change): void {
  const key = `${change.entity.type} ${change.entity.id}`;
  if (change.removed) {
    items.delete(key);
  } else {
    items.set(key, change);
  }
}

/** What the lists of the gateway have, as the sequence should have it: resources by type and id. */
export async function listsOf(database: Database, instanceId: string): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const note = (type: string, rows: readonly object[]) => {
    for (const row of rows) {
      const { id, userId } = row as { id?: string; userId?: string };
      found[`${type} ${id ?? userId}`] = row;
    }
  };
  const parsed = (rows: readonly { json: string }[]) => rows.map(({ json }) => JSON.parse(json) as object);
  const clients = parsed(await clientStore(database).page(instanceId as InstanceId, ALL));
  note('client', clients);
  for (const { id } of clients as { id: ClientId }[]) {
    const organization = organizationStore(database);
    found[`jobTitles ${id}`] = JSON.parse(await organization.jobTitlesOf(id));
    const { unitsTypes, units, locations } = JSON.parse(await organization.structureOf(id));
    note('unitType', unitsTypes);
    note('unit', units);
    note('location', locations);
    note('worker', parsed(await workerStore(database).pageV2(id, ALL)));
    note('user', parsed(await userStore(database).page(id, ALL)));
  }
  return found;
}

export function resourcesIn(mirror: Mirror): Record<string, unknown> {
  return Object.fromEntries([...mirror.items].map(([key, { resource }]) => [key, resource]));
}

export async function digestsIn(
  database: Database,
  instanceId: string,
  clientId: string,
  changes = changeStore(database),
): Promise<Digest[]> {
  const visitor = { instanceId: instanceId as InstanceId, clientId: clientId as ClientId };
  const digest = JSON.parse(await digestOf(changes, visitor, () => () => undefined)) as {
    entities: Digest[];
  };
  return digest.entities;
}
