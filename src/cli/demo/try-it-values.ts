import type { Config } from '../../config/config.js';
import { demoSeed } from '../../domain/demo/seed.js';
import type { TryItValues } from '../../edge/docs/try-it-values.js';
import { demoFilePath, readDemoFile } from './demo-file.js';

/** One of each kind that the first integration can read, by the name of the parameter. */
export function demoIds(): Readonly<Record<string, string>> {
  const connection = demoSeed.integrations[0]?.connections.find(({ configured }) => configured);
  const client = demoSeed.clients.find(({ instance }) => instance === connection?.instance);
  return {
    instanceIntegrationId: connection?.id ?? '',
    clientId: client?.id ?? '',
    workerId: client?.workers[1]?.id ?? '',
    userId: client?.users[1]?.id ?? '',
  };
}

/** The key of the first integration, which is first in the file too, and its ids. Read anew each time. */
export function tryItValues({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): TryItValues | undefined {
  const apiKey = readDemoFile(demoFilePath(DATA_DIR))?.apiKeys?.[0]?.key;
  return apiKey === undefined ? undefined : { apiKey, ids: demoIds() };
}
