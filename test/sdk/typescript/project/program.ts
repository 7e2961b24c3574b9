import {
  ApiError,
  type Change,
  type ChangeOf,
  type Difference,
  Gateway,
  isEvent,
  MemoryStore,
  type OrganizationStructure,
  type Reading,
  type ReceivedEvent,
  SignOn,
  type SqliteDatabase,
  SqliteStore,
  type Store,
  type Sync,
  type User,
  UserStatus,
  verifyWebhook,
  type WorkerV2,
} from '@integration-service/sdk';
import { WorkersApi } from '@integration-service/sdk/generated/gateway';
import type { IssuedTokens } from '@integration-service/sdk/generated/sign-on';
import { verifyWebhook as verifyAlone, type WorkerUpdatedEvent } from '@integration-service/sdk/webhooks';

const gateway = new Gateway({
  baseUrl: 'http://localhost:4001',
  apiKey: 'ik_demo_',
  timeoutMs: 1_000,
  retry: { maxRetries: 1 },
  fetch,
});

/** What a read answers depends on what it is asked. */
export async function read(held: string | null): Promise<void> {
  const workers: WorkerV2[] = await gateway.listWorkersV2('iin', 'cli');
  const reading: Reading<OrganizationStructure> = await gateway.organizationStructure('iin', 'cli', {
    ifChanged: held,
  });
  const units: string[] = reading.changed ? reading.data.units.map(({ name }) => name) : [];
  const maybeHeld: { etag: string | null } | undefined = held ? { etag: held } : undefined;
  const again = await gateway.getClient('iin', 'cli', { ifChanged: maybeHeld?.etag });
  // @ts-expect-error: it may not have changed.
  again.data;
  for await (const user of gateway.users('iin', 'cli', { pageSize: 10 })) {
    await keep(user, workers, units);
  }
}

async function keep(user: User, workers: WorkerV2[], units: string[]): Promise<string | null> {
  const createdAt: Date = user.createdAt;
  const isActive: boolean = user.status === UserStatus.Active || user.status === 'SOMETHING_NEW';
  // @ts-expect-error: there may be no manager.
  user.manager.id;
  return isActive && workers.length + units.length > 0 ? createdAt.toISOString() : user.firstName;
}

/** Comparing the type is enough to know the rest. */
export function clientOf(event: ReceivedEvent): string {
  if (event.type === 'worker.updated') {
    const phone: string | null = event.data.phone;
    return phone ?? event.data.clientId;
  }
  if (isEvent(event, 'client.created')) {
    return event.data.address.city ?? event.data.clientId;
  }
  switch (event.type) {
    case 'user.created':
    case 'user.updated':
      return event.data.clientId;
    case 'organization_location.deleted':
      return event.data.deletedAt;
    default: {
      const type: string = event.type;
      return type === 'worker.promoted' ? event.id : String(event);
    }
  }
}

/** Where the link of an event leads is known from its type. */
export async function present(event: ReceivedEvent, link: string): Promise<unknown> {
  if (event.type === 'worker.updated') {
    const worker: WorkerV2 = await gateway.follow(event, { requestId: 'req-1' });
    const reading: Reading<WorkerV2> = await gateway.follow(event, { ifChanged: null });
    return reading.changed ? reading.data.fullName : worker.fullName;
  }
  if (event.type === 'user.created' || event.type === 'user.updated') {
    const user: User = await gateway.follow(event);
    return user.userId;
  }
  if (isEvent(event, 'organization_unit.created')) {
    const structure: OrganizationStructure = await gateway.follow(event);
    return structure.units.length;
  }
  // @ts-expect-error: it may be of a type that this release does not know.
  await gateway.follow(event);
  const kept: unknown = await gateway.follow(link);
  const changed: Reading<unknown> = await gateway.follow(link, { ifChanged: '"7"' });
  return changed.changed ? changed.data : kept;
}

/** Comparing the type of a change, and whether it was removed, is enough to know its resource. */
export async function catchUp(cursor: string | null): Promise<string | null> {
  const changes = await gateway.listChanges('iin', { after: cursor, waitSeconds: 25, requestId: 'req-1' });
  const names: string[] = changes.items.map(nameOf);
  const digest = await gateway.getChangesDigest('iin', 'cli');
  const count: number | undefined = digest.entities[0]?.count;
  return count === 0 || (names.length === 0 && !changes.hasMore) ? null : changes.cursor;
}

function nameOf(change: Change): string {
  if (change.type === 'worker' && !change.removed) {
    const worker: WorkerV2 = change.resource;
    const text: string = change.json;
    return worker.fullName + text;
  }
  // @ts-expect-error: it may be of another type.
  change.resource?.fullName;
  if (change.removed) {
    const none: null = change.resource;
    return `${change.id} ${none}`;
  }
  switch (change.type) {
    case 'jobTitles':
      return change.resource.join();
    case 'user':
      return change.resource.email;
    case 'client':
    case 'location':
    case 'unit':
    case 'unitType':
      return change.resource.name;
    default: {
      const type: string = change.type;
      return type;
    }
  }
}

/** A store may be of the program's own, and the ones of the package know no database by name. */
export function mirrored(database: SqliteDatabase, own: Store, signal: AbortSignal): Promise<void>[] {
  const memory = new MemoryStore();
  const report = (differences: readonly Difference[]) => differences.map(({ clientId }) => clientId);
  const sync: Sync = gateway.sync('iin', memory, { waitSeconds: 10, onDifference: report });
  sync.wake();
  const name: string | undefined = memory.get('worker', 'wrk')?.clientId;
  const kept: Change[] = [...memory];
  const stores = kept.length > 0 && name ? [new SqliteStore(database), own] : [];
  return [sync.run({ signal }), ...stores.map((store) => gateway.sync('iin', store).catchUp())];
}

export const baker: Pick<ChangeOf<'jobTitles'>, 'resource'> = { resource: ['Baker'] };

export async function receive(request: Request, body: Uint8Array): Promise<WorkerUpdatedEvent | null> {
  const event = await verifyWebhook(await request.arrayBuffer(), request.headers, ['whsec_a', 'whsec_b']);
  await verifyAlone(body, { 'webhook-id': 'evt', 'set-cookie': ['a'], none: undefined }, 'whsec_a');
  return isEvent(event, 'worker.updated') ? event : null;
}

export async function signIn(tokens: IssuedTokens): Promise<string | undefined> {
  const { clientSecret }: { clientSecret?: string } = {};
  const issuer = 'http://localhost:4000';
  const signOn = new SignOn({ issuer, clientId: 'app', clientSecret, redirectUri: 'http://x/cb' });
  const { url, ...kept } = await signOn.authorizationUrl({ prompt: 'login' });
  const { claims, refreshToken } = await signOn.exchangeCode({ callbackUrl: url, ...kept });
  const renewed = refreshToken === null ? null : await signOn.refresh(refreshToken);
  const email: string | undefined = claims?.email;
  const added: unknown = claims?.added_later;
  return email ?? (added === tokens.access_token ? renewed?.accessToken : undefined);
}

export function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'worker_not_found' || error.code === 'added_later');
}

export const generated: Pick<WorkersApi, 'listWorkersV2'> = new WorkersApi();
