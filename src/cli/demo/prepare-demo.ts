import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, hostAndPort } from '../../config/config.js';
import { type DemoCredentials, type DemoStore, demoSeed } from '../../domain/demo/seed.js';
import { newApiKey } from '../../identifiers/api-key.js';
import { newServiceToken } from '../../identifiers/service-token.js';
import { StartupError } from '../startup-error.js';

/** What scripts need to start from a demo environment. Kept in `$DATA_DIR/demo.json`, readable by its owner only. */
export interface DemoFile {
  baseUrl: string;
  gatewayUrl: string;
  grpcAddress: string;
  operatorToken: string;
  platformToken: string;
  temporalUiUrl: string;
  docsUrl: string | null;
  applications: unknown[];
  people: unknown[];
  apiKeys: { key: string; integrationId: string; instanceIntegrationIds: string[] }[];
}

export function demoFilePath(dataDir: string): string {
  return join(dataDir, 'demo.json');
}

/**
 * Seeds the demo environment. The file is written before the database learns of its credentials, so that whenever this is cut short the next start finds the
 * same credentials and makes them valid.
 */
export async function prepareDemo(config: Config, store: DemoStore): Promise<void> {
  const path = demoFilePath(config.DATA_DIR);
  const credentials = credentialsOf(readDemoFile(path));
  replaceFile(path, `${JSON.stringify(contentOf(config, credentials), null, 2)}\n`);
  await store.plant(demoSeed, credentials);
}

/** Undefined too where the file is not what `prepareDemo` writes: half a file, or a person's own. */
export function readDemoFile(path: string): DemoFile | undefined {
  try {
    const content = JSON.parse(readFileSync(path, 'utf8')) as Partial<DemoFile> | null;
    return Array.isArray(content?.apiKeys) ? (content as DemoFile) : undefined;
  } catch {
    return undefined;
  }
}

/** By one rename, so that a script that reads it meanwhile sees the old file or the new one. */
function replaceFile(path: string, content: string): void {
  const staged = `${path}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rmSync(staged, { force: true });
    writeFileSync(staged, content, { mode: 0o600 });
    renameSync(staged, path);
  } catch (error) {
    throw new StartupError(`The file ${path} cannot be written: ${(error as Error).message}.`);
  }
}

/** Those of an earlier start, and new ones where there are none. */
function credentialsOf(present: DemoFile | undefined): DemoCredentials {
  const keyOf = (integrationId: string) =>
    present?.apiKeys.find((apiKey) => apiKey.integrationId === integrationId)?.key ?? newApiKey('demo');
  return {
    serviceTokens: {
      operator: present?.operatorToken ?? newServiceToken('operator', 'demo'),
      platform: present?.platformToken ?? newServiceToken('platform', 'demo'),
    },
    apiKeys: Object.fromEntries(demoSeed.integrations.map(({ id }) => [id, keyOf(id)])),
  };
}

function contentOf(config: Config, { serviceTokens, apiKeys }: DemoCredentials): DemoFile {
  return {
    baseUrl: config.SIGN_ON_URL,
    gatewayUrl: config.GATEWAY_URL,
    grpcAddress: hostAndPort(config.GRPC_HOST, config.GRPC_PORT),
    operatorToken: serviceTokens.operator,
    platformToken: serviceTokens.platform,
    temporalUiUrl: `http://localhost:${config.TEMPORAL_UI_PORT}`,
    docsUrl: null,
    applications: [],
    people: [],
    apiKeys: demoSeed.integrations.map(({ id, connections }) => ({
      key: apiKeys[id] as string,
      integrationId: id,
      instanceIntegrationIds: connections.map((connection) => connection.id),
    })),
  };
}
