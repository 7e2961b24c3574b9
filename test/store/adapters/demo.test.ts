import { expect, test } from '@jest/globals';
import type { AccountId } from '../../../generated/ids.js';
import { type DemoApplication, demoAppId } from '../../../src/domain/demo/applications.js';
import { demoCredentials, demoSeed, demoSeedWith } from '../../../src/domain/demo/seed.js';
import { inspectApiKey, newApiKey } from '../../../src/identifiers/api-key.js';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import type { Database } from '../../../src/store/database.js';
import { describeEachDatabase } from '../../support/databases.js';
import { valueIn } from '../../support/gateway/contract-rows.js';

const TABLES = [
  'instances',
  'integrations',
  'instance_integrations',
  'api_keys',
  'service_tokens',
  'accounts',
  'clients',
  'roles',
  'users',
  'unit_types',
  'units',
  'locations',
  'workers',
  'applications',
  'application_secrets',
] as const;

const people = demoSeed.signIns.map(({ person }) => person.id);
const [portal, mobile] = demoSeed.applications as [DemoApplication, DemoApplication];

describeEachDatabase('the demo seed', (under) => {
  test('opens the doors with its credentials and shows each integration its own connections', async () => {
    const store = await under.openStore(await under.newPlace());
    const credentials = demoCredentials(demoSeed);
    await store.demo.seed(demoSeed, credentials);

    for (const { id, connections } of demoSeed.integrations) {
      const key = credentials.apiKeys[id] as string;
      expect(inspectApiKey(key, 'demo')).toBe('plausible');
      const stored = await store.visits.findKey(hashSecret(key));
      expect(stored?.key).toMatchObject({ integrationId: id, expiresAt: null, revokedAt: null });
      const listed = await valueIn(store.instanceIntegrations.listOf(id));
      expect(listed?.map((connection) => connection.id)).toEqual(
        connections.map((connection) => connection.id),
      );
    }
    for (const kind of ['operator', 'platform'] as const) {
      const token = await store.serviceTokens.findByHash(hashSecret(credentials.serviceTokens[kind]));
      expect(token?.kind).toBe(kind);
    }
  });

  test('registers its applications, with the secrets of its credentials', async () => {
    const place = await under.newPlace();
    const store = await under.openStore(place);
    const credentials = demoCredentials(demoSeed);
    await store.demo.seed(demoSeed, credentials);

    for (const { id, name, type, redirectUris, postLogoutRedirectUris } of demoSeed.applications) {
      const found = await store.operator.rows.applications.find(id);
      expect(found).toMatchObject({ name, type, enabled: true, redirectUris, postLogoutRedirectUris });
      expect(found?.secrets).toHaveLength(type === 'confidential' ? 1 : 0);
    }
    expect(await secretHashes(await under.open(place))).toEqual(
      Object.values(credentials.clientSecrets)
        .map((secret) => hashSecret(secret).toString('base64url'))
        .sort(),
    );
  });

  test('seeded again changes nothing, not even a version', async () => {
    const place = await under.newPlace();
    const store = await under.openStore(place);
    const database = await under.open(place);
    const credentials = demoCredentials(demoSeed);
    await store.demo.seed(demoSeed, credentials);
    const before = await everything(database);

    await store.demo.seed(demoSeed, credentials);
    expect(await everything(database)).toEqual(before);
  });

  test('leaves what people changed or removed since as they made it', async () => {
    const place = await under.newPlace();
    const store = await under.openStore(place);
    const database = await under.open(place);
    const credentials = demoCredentials(demoSeed);
    await store.demo.seed(demoSeed, credentials);
    const [kept, removed] = demoSeed.integrations[0]?.connections ?? [];
    await database.write(async (writer) => {
      await writer.updateTable('instances').set({ name: 'Renamed' }).execute();
      await writer
        .deleteFrom('instance_integrations')
        .where('id', '=', removed?.id as string)
        .execute();
    });

    await store.demo.seed(demoSeed, credentials);
    const listed = await valueIn(store.instanceIntegrations.listOf(demoSeed.integrations[0]?.id ?? 'itg_'));
    expect(listed?.map(({ id, applicationInstance }) => [id, applicationInstance.instanceName])).toEqual([
      [kept?.id, 'Renamed'],
    ]);
  });

  test('takes back no redirect URI that people removed, nor a name that they gave', async () => {
    const place = await under.newPlace();
    const store = await under.openStore(place);
    const database = await under.open(place);
    const credentials = demoCredentials(demoSeed);
    await store.demo.seed(demoSeed, credentials);
    const [removed, ...kept] = portal.redirectUris;
    await store.operator.run(({ applications }) =>
      applications.deleteRedirectUri(portal.id, removed?.uri as string),
    );
    await database.write((writer) => writer.updateTable('applications').set({ name: 'Ours' }).execute());

    await store.demo.seed(demoSeed, credentials);
    const found = await store.operator.rows.applications.find(portal.id);
    expect(found).toMatchObject({ name: 'Ours', redirectUris: kept });
  });

  test('gives its own application the addresses of its new port, and keeps those it had', async () => {
    const store = await under.openStore(await under.newPlace());
    const credentials = demoCredentials(demoSeed);
    await store.demo.seed(demoSeed, credentials);
    const before = await store.operator.rows.applications.find(demoAppId);
    await store.demo.seed(demoSeedWith('http://localhost:4104'), credentials);
    const after = await store.operator.rows.applications.find(demoAppId);
    const uris = after?.redirectUris.map(({ uri }) => uri);
    expect(uris).toEqual(expect.arrayContaining(before?.redirectUris.map(({ uri }) => uri) ?? ['']));
    expect(uris).toContain('http://localhost:4104/callback');
    expect(after?.postLogoutRedirectUris).toContain('http://localhost:4104/signed-out');
    expect(after).toMatchObject({
      logoUri: 'http://localhost:4104/logo.svg',
      policyUri: 'http://localhost:4104/privacy',
      tosUri: 'http://localhost:4104/terms',
      initiateLoginUri: 'http://localhost:4104/sign-in',
    });
    expect(after?.version).not.toBe(before?.version);
  });

  test('brings what is new to a database that an earlier release inserted', async () => {
    const store = await under.openStore(await under.newPlace());
    const earlier = { ...demoSeed, applications: [], signIns: [] };
    const credentials = demoCredentials(earlier);
    await store.demo.seed(earlier, credentials);
    expect(await store.operator.rows.applications.find(mobile.id)).toBeUndefined();

    await store.demo.seed(demoSeed, demoCredentials(demoSeed, credentials));
    expect(await store.operator.rows.applications.find(mobile.id)).toMatchObject({ name: mobile.name });
    expect(await store.demo.withoutPassword(people)).toHaveLength(people.length);
  });

  test('gives a password to those who have none, and removes none', async () => {
    const place = await under.newPlace();
    const store = await under.openStore(place);
    const { reader } = await under.open(place);
    const passwords = () => reader.selectFrom('passwords').select(['account_id', 'hash']).execute();
    const [first, second] = people as [AccountId, AccountId];
    expect(await store.demo.withoutPassword(people)).toEqual([]);
    await store.demo.seed(demoSeed, demoCredentials(demoSeed));
    expect(new Set(await store.demo.withoutPassword(people))).toEqual(new Set(people));

    await store.demo.seedPasswords([{ accountId: first, hash: 'theirs' }], 7);
    expect(new Set(await store.demo.withoutPassword(people))).toEqual(new Set(people.slice(1)));
    await store.demo.seedPasswords(
      [first, second].map((accountId) => ({ accountId, hash: 'the demo’s' })),
      8,
    );
    expect(new Map((await passwords()).map((row) => [row.account_id, row.hash]))).toEqual(
      new Map([
        [first, 'theirs'],
        [second, 'the demo’s'],
      ]),
    );
  });

  test('makes new credentials valid beside the old ones', async () => {
    const store = await under.openStore(await under.newPlace());
    const [old, young] = [demoCredentials(demoSeed), demoCredentials(demoSeed)];
    await store.demo.seed(demoSeed, old);
    await store.demo.seed(demoSeed, young);

    for (const key of [...Object.values(old.apiKeys), ...Object.values(young.apiKeys)]) {
      expect(await store.visits.findKey(hashSecret(key))).toBeDefined();
    }
  });

  test('is seeded as a whole or not at all', async () => {
    const place = await under.newPlace();
    const store = await under.openStore(place);
    const broken = { ...demoCredentials(demoSeed), apiKeys: { itg_missing: newApiKey('demo') } };

    await expect(store.demo.seed(demoSeed, broken)).rejects.toMatchObject({
      message: expect.stringMatching(/foreign key/i),
    });
    expect((await everything(await under.open(place))).flat()).toEqual([]);
  });

  test('keeps no secret in the database', async () => {
    const place = await under.newPlace();
    const store = await under.openStore(place);
    const credentials = demoCredentials(demoSeed);
    await store.demo.seed(demoSeed, credentials);

    const dump = JSON.stringify(await everything(await under.open(place)));
    for (const secret of [
      ...Object.values(credentials.apiKeys),
      ...Object.values(credentials.serviceTokens),
      ...Object.values(credentials.clientSecrets),
    ]) {
      expect(dump).not.toContain(secret.slice(13));
    }
  });
});

function everything({ reader }: Database): Promise<object[][]> {
  return Promise.all(TABLES.map((table) => reader.selectFrom(table).selectAll().orderBy('id').execute()));
}

async function secretHashes({ reader }: Database): Promise<string[]> {
  const rows = await reader.selectFrom('application_secrets').select('hash').execute();
  return rows.map(({ hash }) => hash).sort();
}
