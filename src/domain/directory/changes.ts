import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InstanceIntegrationId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { type ClientVisitor, contractRefusal, type InstanceVisitor } from '../access/gatekeeper.js';
import type { ReleaseSlot } from '../access/list-slots.js';
import { type JsonOf, jsonObject, jsonOf, type Schemas } from './contract-json.js';
import type { Page } from './page.js';
import {
  type ChangePosition,
  type ChangeStore,
  type ClientStore,
  ENTITY_TYPES,
  type EntityType,
  type Life,
  type Listed,
  type OrganizationStore,
  type StoredChange,
  type UserStore,
  type WorkerStore,
} from './stores.js';

interface ChangeDependencies {
  changes: ChangeStore;
  cursors: ChangeCursors;
  clients: Pick<ClientStore, 'allOf'>;
  workers: Pick<WorkerStore, 'activeOf'>;
  users: Pick<UserStore, 'presentOf'>;
  organization: Pick<OrganizationStore, 'jobTitlesOfAll' | 'unitTypesOf' | 'unitsOf' | 'locationsOf'>;
}

/** What one answer may have: it travels among short calls. */
const MOST_BYTES = 256 * 1_024;
/** About as many workers as that many bytes. */
const MOST_ITEMS = 500;
/** Resources in one read: few at first, since each may be large, then more as their bytes allow. */
const READ_AT_FIRST = 16;
const READ_AT_ONCE = 250;
const GROWTH = 4;
/** The pauses between looks whether a change is final, together shorter than the deadline of a call. */
const PAUSES_MS = [20, 40, 80, 160, 300, 600, 900, 900];
const RETRY_AFTER_SECONDS = 3;
/** By type and id, behind all changes of a position. */
export const LAST_OF_POSITION = { type: 'worker', id: 'z'.repeat(26) } as const;

/** What a cursor says. */
export interface ReaderPlace {
  life: string;
  after: ChangePosition;
  /**
   * The last position when the reader began. Removals up to it are left out: the reader never had the
   * entities.
   */
  beganAt: number;
  /** The reader has not come to the end of all that exists since it began. */
  isLoading: boolean;
  /** The newest position of the instance when the cursor was given. */
  newest: number;
}

/** Positions count the writes of all instances, so cursors do not show them. */
export interface ChangeCursors {
  /** The same place always has the same cursor. */
  write(place: ReaderPlace, reader: InstanceIntegrationId): string;
  /**
   * Undefined if the cursor was changed, or made with a key that the database does not have. Throws if the
   * text does not have the form of a cursor, or if it is one of another instance integration.
   */
  read(cursor: string, reader: InstanceIntegrationId): ReaderPlace | undefined;
}

type Standing = Pick<ReaderPlace, 'after' | 'beganAt' | 'isLoading'>;

/** The sequence of changes of one instance, for one instance integration. */
interface Sequence {
  /** The version of the changes after the cursor. */
  version: string;
  /** No change follows the cursor. */
  isEmpty: boolean;
  page(): Promise<Page<Listed<Schemas['Change']>>>;
}

interface ChangesAsked {
  instanceIntegrationId: InstanceIntegrationId;
  limit?: number;
  cursor?: string;
}

export async function sequenceOf(
  dependencies: ChangeDependencies,
  visitor: InstanceVisitor,
  { instanceIntegrationId, limit: wanted = MOST_ITEMS, cursor }: ChangesAsked,
): Promise<Sequence> {
  const { changes, cursors } = dependencies;
  const { instanceId } = visitor;
  const limit = Math.min(wanted, MOST_ITEMS);
  // Before the page is read, which then has every change before this end.
  const { lives, end } = await changes.lives();
  const standing =
    cursor === undefined
      ? beginning(end)
      : standingAt(cursors.read(cursor, instanceIntegrationId), { lives, end });
  if (standing === undefined) {
    throw contractRefusal('cursor_expired', visitor);
  }
  const life = lives.find(({ lastPosition }) => lastPosition === null)?.life ?? '';
  const before = standing.isLoading ? Number.MAX_SAFE_INTEGER : end;
  const read = (after: ChangePosition) =>
    changes.page(instanceId, { after, before, removedAfter: standing.beganAt, limit: limit + 1 });
  const found = await read(standing.after);
  return {
    version: createHash('sha256')
      // Without positions: a reader who knows the rest could try them out.
      .update(`${life} ${found.map(({ type, id, version }) => `${type} ${id} ${version}`)}`)
      .digest('base64url'),
    isEmpty: found.length === 0,
    page: async () => {
      const page = await pageFrom(dependencies, { found, limit, end, read });
      // After the resources, so that it is not older than any of them.
      const newest = await changes.newestOf(instanceId);
      const last = page.items.at(-1)?.change;
      const cursorOf = (change: ChangePosition) => {
        // A change that is not final comes again: its cursor says only that all before `end` has been read.
        const after = change.position < end ? change : { ...change, position: end - 0.5 };
        const isLoading = standing.isLoading && (page.next !== undefined || change !== last);
        const beganAt = isLoading || after.position <= standing.beganAt ? standing.beganAt : 0;
        return cursors.write({ life, after, beganAt, isLoading, newest }, instanceIntegrationId);
      };
      return {
        rows: page.items.map(({ change, resource }) => ({
          createdAt: change.position,
          id: change.id,
          json: itemOf(change, cursorOf(change), resource),
        })),
        nextCursor: page.next && cursorOf(page.next),
        isLast: true,
      };
    },
  };
}

function beginning(end: number): Standing {
  return { after: { position: 0, type: 'client', id: '' }, beganAt: end - 1, isLoading: true };
}

/** Undefined if the database may lack something that the reader has read. */
function standingAt(
  place: ReaderPlace | undefined,
  { lives, end }: { lives: readonly Life[]; end: number },
): Standing | undefined {
  const lived = lives.find((one) => one.life === place?.life);
  if (!place || !lived || place.after.position >= end) {
    return undefined;
  }
  const { beganAt, isLoading, newest } = place;
  const position = Math.floor(place.after.position);
  const after = position < place.after.position ? { position, ...LAST_OF_POSITION } : place.after;
  const { lastPosition } = lived;
  if (lastPosition === null) {
    return { after, beganAt, isLoading };
  }
  return newest <= lastPosition ? { after, beganAt: Math.min(beganAt, lastPosition), isLoading } : undefined;
}

interface Item {
  change: StoredChange;
  resource: JsonOf<unknown>;
}

interface PageAsked {
  found: readonly StoredChange[];
  limit: number;
  end: number;
  read(after: ChangePosition): Promise<StoredChange[]>;
}

/**
 * Returns the items that fit one answer and, if there is more, where the next answer begins. A load ends with
 * the changes that are not final: they may be the only ones of an entity, and a reader removes what the load
 * did not contain. No reader can continue among them, so they come in one answer or are refused for now: a
 * wait would hold a turn that all lists share.
 */
async function pageFrom(
  dependencies: ChangeDependencies,
  { found: first, limit, end, read }: PageAsked,
): Promise<{ items: Item[]; next: ChangePosition | undefined }> {
  for (let found = first; ; ) {
    const { items, count } = await fitting(dependencies, found.slice(0, limit));
    if (count === found.length) {
      return { items, next: undefined };
    }
    const next = found.slice(0, count).findLast(({ position }) => position < end);
    if (!next) {
      throw notReadable('a transaction stays open, and one page has no room for the changes after it');
    }
    const final = items.filter(({ change }) => change.position < end);
    if (final.length > 0) {
      return { items: final, next };
    }
    found = await read(next);
  }
}

/** How many of the changes fit one answer, and the items of those. */
async function fitting(
  dependencies: ChangeDependencies,
  changes: readonly StoredChange[],
): Promise<{ items: Item[]; count: number }> {
  const items: Item[] = [];
  let bytes = 0;
  let count = 0;
  let atOnce = READ_AT_FIRST;
  while (count < changes.length) {
    const some = changes.slice(count, count + atOnce);
    const resources = await resourcesOf(dependencies, some);
    const before = count;
    for (const change of some) {
      const resource = change.removed ? 'null' : resources.get(keyOf(change));
      // The store returned the titles of the first clients only; the others are read next.
      if (resource === undefined && change.type === 'jobTitles' && count > before) {
        break;
      }
      // A resource that is missing was removed meanwhile, and its removal comes later.
      if (resource !== undefined) {
        bytes += Buffer.byteLength(resource);
        if (items.length > 0 && bytes > MOST_BYTES) {
          return { items, count };
        }
        items.push({ change, resource: resource as JsonOf<unknown> });
      }
      count += 1;
    }
    // As many as will fit if they are like those before.
    const fit = Math.max(1, Math.ceil(((MOST_BYTES - bytes) * count) / bytes));
    atOnce = Math.min(READ_AT_ONCE, GROWTH * (count - before), fit);
  }
  return { items, count };
}

function itemOf(
  { type, id, clientId, removed, changedAt, version }: StoredChange,
  cursor: string,
  resource: JsonOf<unknown>,
): JsonOf<Schemas['Change']> {
  return jsonObject<Schemas['Change']>({
    cursor: jsonOf(cursor),
    entity: jsonOf<Schemas['ChangedEntity']>({ type, id }),
    clientId: jsonOf(clientId),
    removed: jsonOf(removed),
    changedAt: jsonOf(new Date(changedAt).toISOString()),
    version: jsonOf(version),
    resource,
  });
}

/** The resources of all entities that are not removed, each type in one read. */
async function resourcesOf(
  { clients, workers, users, organization }: ChangeDependencies,
  changes: readonly StoredChange[],
): Promise<Map<string, string>> {
  const reads: Record<EntityType, (ids: string) => Promise<{ id: string; json: string }[]>> = {
    client: clients.allOf,
    jobTitles: organization.jobTitlesOfAll,
    location: organization.locationsOf,
    unit: organization.unitsOf,
    unitType: organization.unitTypesOf,
    user: users.presentOf,
    worker: workers.activeOf,
  };
  const found = new Map<string, string>();
  await Promise.all(
    ENTITY_TYPES.map(async (type) => {
      const ids = changes.filter((change) => change.type === type && !change.removed).map(({ id }) => id);
      for (const { id, json } of ids.length === 0 ? [] : await reads[type](JSON.stringify(ids))) {
        found.set(keyOf({ type, id }), json);
      }
    }),
  );
  return found;
}

function keyOf({ type, id }: Pick<ChangePosition, 'type' | 'id'>): string {
  return `${type} ${id}`;
}

/**
 * The digests of a client, with those of types that it has nothing of. Waits until readers of the sequence
 * can have all that they count: a copy that then has nothing left to read, and still differs, is not equal.
 * Holds a slot while it waits.
 */
export async function digestOf(
  changes: ChangeStore,
  { instanceId, clientId }: Pick<ClientVisitor, 'instanceId' | 'clientId'>,
  hold: () => ReleaseSlot,
): Promise<JsonOf<Schemas['ChangesDigest']>> {
  const stored = new Map((await changes.digestsOf(clientId)).map((one) => [one.type, one]));
  // After the digests, so that no change in them is newer.
  await untilFinal(changes, await changes.newestOf(instanceId), hold);
  const entities = ENTITY_TYPES.map((type) => ({
    type,
    count: stored.get(type)?.entities ?? 0,
    digest: stored.get(type)?.digest ?? 0,
  }));
  return jsonOf<Schemas['ChangesDigest']>({ clientId, entities });
}

/** Waits until this change is final: until no transaction on PostgreSQL that began before it is open. */
async function untilFinal(changes: ChangeStore, position: number, hold: () => ReleaseSlot): Promise<void> {
  const isFinal = async () => (await changes.lives()).end > position;
  if (await isFinal()) {
    return;
  }
  const release = hold();
  try {
    for (const pauseMs of PAUSES_MS) {
      await sleep(pauseMs);
      if (await isFinal()) {
        return;
      }
    }
  } finally {
    release();
  }
  throw notReadable('a transaction of this database server stays open');
}

function notReadable(internal: string): ServiceError {
  return new ServiceError(
    ErrorCode.UNAVAILABLE,
    'Changes are still being made. Try again in a few seconds.',
    { internal, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
