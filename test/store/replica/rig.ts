import type { Gatekeeper } from '../../../src/domain/access/gatekeeper.js';
import { directoryReads, type Pages, type Target } from '../../../src/domain/directory/reads.js';
import { newVersion } from '../../../src/domain/version.js';
import type { StoreWatch, Writer } from '../../../src/store/database.js';
import { openPostgres } from '../../../src/store/dialects/postgres/postgres.js';
import { openStore } from '../../../src/store/store.js';
import { cursors } from '../../support/changes/cursors.js';
import { PATIENT } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { plantClient, plantUser } from '../directory-rows.js';
import type { Row } from '../rows.js';
import type { Replicated } from './replicated.js';

const REST_MS = 50;
/** For a replica that answers: on a busy machine it may need more than the second that it has in service. */
const LONG_MS = 30_000;
/** For one that does not. */
export const SOON_MS = 5_000;

export async function makeSchema(databaseUrl: string): Promise<void> {
  const made = await openStore({ environment: 'demo', dataDir: '', databaseUrl, limits: PATIENT });
  await made.close();
}

/** A store over primary and replica, with a client; it records the sources of reads. */
export async function openRig(
  servers: Replicated,
  { replicaUrl = servers.replicaUrl, limitMs = LONG_MS }: { replicaUrl?: string; limitMs?: number } = {},
) {
  const sources: string[] = [];
  const away: string[] = [];
  const watch = new Proxy({} as StoreWatch, {
    get: (_, name) =>
      name === 'readFrom'
        ? (source: string, reason: string) => sources.push(reason ? `${source}: ${reason}` : source)
        : () => undefined,
  });
  const database = await openPostgres(servers.url, () => undefined, PATIENT);
  const store = await openStore({
    ...{ environment: 'demo', dataDir: '', databaseUrl: servers.url, limits: PATIENT, watch },
    replica: {
      ...{ url: replicaUrl, restMs: REST_MS, limitMs },
      onAway: (reason) => away.push(reason),
      onBack: () => away.push('back'),
    },
  });
  const client = await plantClient(database);

  const versionOf = async (subjectId: string) => {
    const row = await database.reader
      .selectFrom('data_versions')
      .where('subject_id', '=', subjectId)
      .select('version')
      .executeTakeFirst();
    return row?.version ?? '';
  };
  const gatekeeper = {
    admitToInstance: async () => ({ ...client, version: await versionOf(client.instanceId) }),
    admitToClient: async (_: unknown, __: unknown, clientId: string) => ({
      ...{ clientId, instanceId: client.instanceId, version: await versionOf(clientId) },
    }),
    lists: { areMany: () => false },
  };
  const reads = directoryReads({
    ...store,
    cursors,
    gatekeeper: gatekeeper as unknown as Gatekeeper,
  });
  const question = { apiKeyHash: new Uint8Array(), knownVersions: [], anyVersionKnown: false };

  const listUsers = async (onFirstPage = async () => {}): Promise<string[]> => {
    const { content } = await reads.listUsers(question, { clientId: client.id } as Target);
    const ids: string[] = [];
    for await (const { rows } of content as Pages<unknown>) {
      if (ids.length === 0) {
        await onFirstPage();
      }
      ids.push(...rows.map(({ id }) => id));
    }
    return ids;
  };

  const change = () => database.write((writer) => renewVersion(writer, client.id));

  /** Commits the row first and the version after it, so the replica may have the row alone. */
  const addUser = async (row: Row<'users'> = {}) => {
    const { id } = await plantUser(database, { ...row, client_id: client.id });
    await change();
    return id;
  };

  await change();
  await servers.caughtUp();
  return {
    ...{ database, store, client, reads, question, sources, away, listUsers, addUser },
    /** Waits until the pool of the replica is open. */
    fromReplica: () =>
      eventually('a list from the replica', async () => {
        sources.length = 0;
        await listUsers();
        return sources.join() === 'replica';
      }),
    /** Waits until the reason is known why the replica is not read. */
    isAway: () =>
      eventually('a refused replica', async () => {
        await listUsers();
        return away.length > 0;
      }),
    /** Gives another server the same version, as in a copy of the database whose other rows differ. */
    copyVersionTo: async (url: string) => {
      const copy = await openPostgres(url, () => undefined, PATIENT);
      const version = await versionOf(client.id);
      await copy.write((writer) => renewVersion(writer, client.id, version));
      await copy.close();
    },
    /** Enough users make a list of several pages. */
    addMany: async (count: number) => {
      for (let planted = 0; planted < count; planted += 1) {
        await plantUser(database, { client_id: client.id });
      }
      await change();
      await servers.caughtUp();
      sources.length = 0;
    },
    close: async () => {
      await store.close();
      await database.close();
    },
  };
}

export type Rig = Awaited<ReturnType<typeof openRig>>;

/** Changes the version of a client, as each write of the platform does. */
export async function renewVersion(
  writer: Writer,
  subject_id: string,
  version = newVersion(),
): Promise<void> {
  await writer
    .insertInto('data_versions')
    .values({ subject_id, version })
    .onConflict((conflict) =>
      conflict.column('subject_id').doUpdateSet(({ ref }) => ({ version: ref('excluded.version') })),
    )
    .execute();
}
