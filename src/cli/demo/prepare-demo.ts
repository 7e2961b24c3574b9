import type { Config } from '../../config/config.js';
import type { PasswordHasher } from '../../domain/credentials/passwords.js';
import {
  DEMO_PASSWORD,
  type DemoCredentials,
  type DemoSeed,
  type DemoStore,
  demoCredentials,
  demoSeedWith,
  type KeptCredentials,
} from '../../domain/demo/seed.js';
import { demoAppUrl, grpcAddressOf, temporalUiUrl } from '../from-config.js';
import {
  type DemoFile,
  demoFilePath,
  ofTokens,
  readDemoFile,
  TOKEN_MEMBERS,
  writeDemoFile,
} from './demo-file.js';

/** Seeds the demo. Writes the file before the database, so that the next start has the same credentials. */
export async function prepareDemo(
  config: Config,
  store: DemoStore,
  passwords: PasswordHasher,
): Promise<void> {
  const path = demoFilePath(config.DATA_DIR);
  const seed = demoSeedWith(demoAppUrl(config));
  const credentials = demoCredentials(seed, keptIn(readDemoFile(path)));
  writeDemoFile(path, contentOf(config, seed, credentials));
  await store.seed(seed, credentials);
  await seedPasswords(store, seed, passwords);
}

/** Only for accounts without a password: people may have set their own. */
async function seedPasswords(store: DemoStore, seed: DemoSeed, passwords: PasswordHasher): Promise<void> {
  const accountIds = await store.withoutPassword(seed.signIns.map(({ person }) => person.id));
  if (accountIds.length === 0) {
    return;
  }
  // One hash for all: hashing is slow, and demo.json tells everyone that the password is the same.
  const hash = await passwords.hash(DEMO_PASSWORD);
  await store.seedPasswords(
    accountIds.map((accountId) => ({ accountId, hash })),
    Date.now(),
  );
}

function keptIn({ apiKeys = [], applications = [], ...file }: Partial<DemoFile> = {}): KeptCredentials {
  return {
    serviceTokens: Object.fromEntries(
      Object.entries(TOKEN_MEMBERS).map(([kind, member]) => [kind, file[member]]),
    ),
    apiKeys: Object.fromEntries(apiKeys.map(({ integrationId, key }) => [integrationId, key])),
    clientSecrets: Object.fromEntries(
      applications.map(({ clientId, clientSecret }) => [clientId, clientSecret]),
    ),
  };
}

function contentOf(
  config: Config,
  seed: DemoSeed,
  { serviceTokens, apiKeys, clientSecrets }: DemoCredentials,
): DemoFile {
  return {
    baseUrl: config.SIGN_ON_URL,
    gatewayUrl: config.GATEWAY_URL,
    grpcAddress: grpcAddressOf(config),
    ...ofTokens((kind) => serviceTokens[kind]),
    demoAppUrl: demoAppUrl(config),
    temporalUiUrl: temporalUiUrl(config) ?? null,
    docsUrl: `${config.GATEWAY_URL}/docs`,
    applications: seed.applications.map(({ id, type, name, requirePkce, redirectUris, allowedScopes }) => ({
      clientId: id,
      clientSecret: clientSecrets[id],
      type,
      name,
      requirePkce,
      redirectUris: [...redirectUris],
      scopes: allowedScopes,
    })),
    people: seed.signIns.map(({ person, note }) => ({
      email: person.email,
      password: DEMO_PASSWORD,
      note,
    })),
    apiKeys: seed.integrations.map(({ id, connections }) => ({
      key: apiKeys[id] as string,
      integrationId: id,
      instanceIntegrationIds: connections.map((connection) => connection.id),
    })),
  };
}
