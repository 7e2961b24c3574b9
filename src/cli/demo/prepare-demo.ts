import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.js';
import { type DemoCredentials, type DemoStore, demoSeed } from '../../domain/demo/seed.js';
import { newApiKey } from '../../identifiers/api-key.js';
import { newServiceToken } from '../../identifiers/service-token.js';

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
  const staged = `${path}.${process.pid}`;
  writeFileSync(staged, `${JSON.stringify(contentOf(config, credentials), null, 2)}\n`, { mode: 0o600 });
  renameSync(staged, path);
  await store.plant(demoSeed, credentials);
}

export function readDemoFile(path: string): DemoFile | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DemoFile;
  } catch {
    return undefined;
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
    grpcAddress: `${config.GRPC_HOST}:${config.GRPC_PORT}`,
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
