import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openPostgres } from '../../../src/store/dialects/postgres/postgres.js';
import { newPostgresDatabase, PATIENT } from '../../support/databases.js';
import { startPgBouncer } from '../../support/postgres/pgbouncer.js';
import { transactionPooler } from '../../support/postgres/transaction-pooler.js';
import { stallingProxy } from '../../support/stalling-proxy.js';
import { describeWith } from '../../support/toolchains.js';
import { plantUser } from '../directory-rows.js';
import { type Replicated, startReplicated } from './replicated.js';
import { makeSchema, openRig, type Rig, renewVersion, SOON_MS } from './rig.js';

const NO_REPLICA = 'DATABASE_REPLICA_URL leads to a server that is not a replica, or was promoted';
const POOLER = 'DATABASE_REPLICA_URL leads to a pooler; it must name the replica itself';
const OTHER = 'DATABASE_REPLICA_URL leads to another database than DATABASE_URL';

describe('reads of the gateway come from the primary', () => {
  let servers: Replicated;
  let rig: Rig | undefined;
  const ends: (() => unknown)[] = [];
  const open = async (replicaUrl = servers.replicaUrl, limitMs?: number) => {
    rig = await openRig(servers, { replicaUrl, ...(limitMs !== undefined && { limitMs }) });
    return rig;
  };

  beforeAll(async () => {
    servers = await startReplicated();
    await makeSchema(servers.url);
  });

  afterEach(async () => {
    await rig?.close();
    rig = undefined;
    for (const end of ends.splice(0)) {
      await end();
    }
  });

  afterAll(() => servers?.stop());

  const expectPrimary = async ({ listUsers, addUser, sources, away, isAway }: Rig, reason: unknown) => {
    const id = await addUser();
    await isAway();
    sources.length = 0;
    await expect(listUsers()).resolves.toEqual([id]);
    expect(sources).toEqual(['primary: failure']);
    expect(away[0]).toEqual(reason);
  };

  const proxied = async () => {
    const proxy = await stallingProxy(servers.replicaUrl);
    ends.push(proxy.close);
    return proxy;
  };

  test('while the replica cannot be reached, also from the start', async () => {
    const proxy = await proxied();
    proxy.cut();
    const opened = await open(proxy.url);
    await expectPrimary(opened, expect.stringMatching(/ECONNRESET/));
    proxy.mend();
    await opened.fromReplica();
    expect(opened.away.at(-1)).toBe('back');
  });

  test('while the replica accepts connections and answers nothing, also from the start', async () => {
    const proxy = await proxied();
    proxy.hold();
    const opened = await open(proxy.url, SOON_MS);
    await expectPrimary(opened, expect.stringMatching(/timeout/));
    proxy.release();
    await opened.fromReplica();
  });

  test('from the page on at which the replica stops to answer, and the store can be closed meanwhile', async () => {
    const proxy = await proxied();
    const opened = await open(proxy.url, SOON_MS);
    await opened.fromReplica();
    await opened.addMany(300);
    const ids = await opened.listUsers(async () => proxy.hold());
    expect(new Set(ids).size).toBe(300);
    expect(opened.sources).toEqual(['replica', 'primary: failure']);
    expect(opened.away[0]).toMatch(/timeout/);
  });

  test('from the page on before which the replica restarts', async () => {
    const opened = await open();
    await opened.fromReplica();
    await opened.addMany(300);
    const ids = await opened.listUsers(async () => {
      await servers.stopReplica();
      await servers.startReplica();
    });
    expect(new Set(ids).size).toBe(300);
    expect(opened.sources).toEqual(['replica', 'primary: failure']);
    await opened.fromReplica();
    expect(opened.away.at(-1)).toBe('back');
  });

  test('if the replica is that of another server', async () => {
    const other = await startReplicated();
    ends.push(() => other.stop());
    await makeSchema(other.url);
    await expectPrimary(await open(other.replicaUrl), OTHER);
  });

  test('if the replica is that of another database of the server, with rows of equal versions', async () => {
    await servers.ask('primary', 'create database other owner integration');
    const [at, atReplica] = [servers.url, servers.replicaUrl].map((url) => url.replace(/\w+$/, 'other'));
    await makeSchema(at as string);
    const opened = await open(atReplica);
    await opened.copyVersionTo(at as string);
    await servers.caughtUp();
    await expectPrimary(opened, OTHER);
  });

  test('if the address is that of the primary, or of a server that is no replica of any', async () => {
    await expectPrimary(await open(servers.url), NO_REPLICA);
    await rig?.close();
    const other = await newPostgresDatabase();
    ends.push(() => other.drop());
    await expectPrimary(await open(other.url), NO_REPLICA);
  });

  test('if a pooler that takes any setting is before the replica', async () => {
    const pooler = await transactionPooler(servers.replicaUrl, 'ignored');
    ends.push(pooler.close);
    await expectPrimary(await open(pooler.url), POOLER);
  });

  describeWith('pgbouncer', 'if PgBouncer is before the replica', (executable) => {
    test.each(['transaction', 'session'])('in %s mode', async (mode) => {
      const pooler = await startPgBouncer(executable, servers.replicaUrl, mode);
      ends.push(() => pooler.stop());
      await expectPrimary(await open(pooler.url), POOLER);
    });
  });

  test('after the replica was promoted, beside a primary that goes on', async () => {
    const opened = await open();
    const { listUsers, addUser, sources, away, client } = opened;
    await opened.fromReplica();
    servers.promote();
    sources.length = 0;
    await expect(listUsers()).resolves.toEqual([]);
    expect(sources).toEqual(['primary: failure']);
    expect(away).toEqual([NO_REPLICA]);
    const promoted = await openPostgres(servers.replicaUrl, () => undefined, PATIENT);
    ends.push(() => promoted.close());
    await plantUser(promoted, { client_id: client.id });
    await promoted.write((writer) => renewVersion(writer, client.id));
    const id = await addUser();
    await expect(listUsers()).resolves.toEqual([id]);
  });
});
