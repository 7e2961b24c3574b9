import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type DemoFile, demoFilePath } from '../../../src/cli/demo/demo-file.js';
import { prepareDemo } from '../../../src/cli/demo/prepare-demo.js';
import { demoCredentials, demoSeed } from '../../../src/domain/demo/seed.js';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import { openStore, type Store } from '../../../src/store/store.js';
import { quickHasher } from '../../support/platform-dependencies.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { countingHasher, settingsIn } from './demo-settings.js';

describe('preparing a demo', () => {
  const newDirectory = temporaryDirectories();
  const stores: Store[] = [];
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });

  async function newDemo() {
    const dataDir = newDirectory();
    const store = await openStore({ environment: 'demo', dataDir });
    stores.push(store);
    const path = demoFilePath(dataDir);
    const prepare = async (hasher = quickHasher): Promise<DemoFile> => {
      await prepareDemo(settingsIn(dataDir), store.demo, hasher);
      return JSON.parse(readFileSync(path, 'utf8'));
    };
    return { store, path, prepare };
  }

  test('writes applications and people, and stores their secrets in the database', async () => {
    const { store, prepare } = await newDemo();
    const { applications, people } = await prepare();
    expect(applications.map(({ clientId }) => clientId)).toEqual(demoSeed.applications.map(({ id }) => id));
    for (const application of applications) {
      const { clientId, type, name, requirePkce, redirectUris, scopes } = application;
      const registered = await store.operator.rows.applications.find(clientId);
      expect(registered).toMatchObject({ type, name, requirePkce, redirectUris, allowedScopes: scopes });
      expect(registered?.secrets).toHaveLength(application.clientSecret === undefined ? 0 : 1);
      expect(application.clientSecret === undefined).toBe(type === 'public');
    }
    expect(people.length).toBeGreaterThan(5);
    for (const { email, password, note } of people) {
      expect(note).not.toBe('');
      const hash = await store.platform.run(async ({ accounts, passwords }) => {
        const account = await accounts.findByEmail(email);
        return account && (await passwords.find(account.id))?.hash;
      });
      expect(await quickHasher.verify(hash, password)).toBe(true);
    }
  });

  test('leads to no UI of Temporal where none is named, as with a server elsewhere', async () => {
    const { prepare } = await newDemo();
    expect((await prepare()).temporalUiUrl).toBeNull();
  });

  test('hashes the password once, and a second time keeps every credential and hashes nothing', async () => {
    const { prepare } = await newDemo();
    const hasher = countingHasher();
    const first = await prepare(hasher);
    expect(hasher.count()).toBe(1);
    expect(await prepare(hasher)).toEqual(first);
    expect(hasher.count()).toBe(1);
  });

  test('leaves the password that a person has set since', async () => {
    const { store, prepare } = await newDemo();
    await prepare();
    const accountId = demoSeed.signIns[0]?.person.id as 'acc_';
    await store.platform.run(({ passwords, now }) => passwords.set(accountId, 'their own', now));
    await prepare();
    const kept = await store.platform.run(({ passwords }) => passwords.find(accountId));
    expect(kept?.hash).toBe('their own');
  });

  test('adds what is new to a demo of an earlier release, and keeps its credentials', async () => {
    const { store, path, prepare } = await newDemo();
    const earlier = { ...demoSeed, applications: [], signIns: [] };
    const credentials = demoCredentials(earlier);
    const kept = {
      operatorToken: credentials.serviceTokens.operator,
      platformToken: credentials.serviceTokens.platform,
      supportToken: credentials.serviceTokens.support,
      auditorToken: credentials.serviceTokens.auditor,
      keyCustodianToken: credentials.serviceTokens.key_custodian,
      apiKeys: demoSeed.integrations.map(({ id, connections }) => ({
        key: credentials.apiKeys[id] as string,
        integrationId: id,
        instanceIntegrationIds: connections.map((connection) => connection.id),
      })),
    };
    writeFileSync(path, JSON.stringify({ ...kept, applications: [], people: [] }));
    await store.demo.seed(earlier, credentials);

    const hasher = countingHasher();
    const content = await prepare(hasher);
    expect(content).toMatchObject(kept);
    expect(content.applications).toHaveLength(demoSeed.applications.length);
    expect(hasher.count()).toBe(1);
  });

  test('makes anew what of the file is spoilt, and keeps the rest', async () => {
    const { store, path, prepare } = await newDemo();
    const first = await prepare();
    const [portal, ...others] = first.applications;
    const spoilt = {
      ...first,
      operatorToken: 42,
      apiKeys: [null, ...first.apiKeys.slice(1)],
      applications: [{ ...portal, clientSecret: 'guess me' }, ...others],
    };
    writeFileSync(path, JSON.stringify(spoilt));
    const second = await prepare();
    expect(second.operatorToken).not.toBe(first.operatorToken);
    expect(second.platformToken).toBe(first.platformToken);
    expect(second.apiKeys[0]?.key).not.toBe(first.apiKeys[0]?.key);
    expect(second.apiKeys.slice(1)).toEqual(first.apiKeys.slice(1));
    expect(second.applications.slice(1)).toEqual(others);
    expect(second.applications[0]?.clientSecret).toMatch(/^cs_demo_/);
    for (const key of [first.apiKeys[0]?.key, second.apiKeys[0]?.key]) {
      expect(await store.visits.findKey(hashSecret(key as string))).toBeDefined();
    }
    const registered = await store.operator.rows.applications.find(portal?.clientId as string);
    expect(registered?.secrets).toHaveLength(2);
  });
});
