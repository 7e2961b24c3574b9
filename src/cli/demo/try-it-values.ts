import type { Config } from '../../config/config.js';
import { demoSeed } from '../../domain/demo/seed.js';
import type { TryItValues } from '../../edge/docs/try-it-values.js';
import { demoFilePath, readDemoFile } from './demo-file.js';

/** Of the first integration: its key, and one of each kind that the key can read. Read anew each time. */
export function tryItValues({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): TryItValues | undefined {
  const [first] = readDemoFile(demoFilePath(DATA_DIR))?.apiKeys ?? [];
  const connection = demoSeed.integrations
    .find(({ id }) => id === first?.integrationId)
    ?.connections.find(({ configured }) => configured);
  const client = demoSeed.clients.find(({ instance }) => instance === connection?.instance);
  if (first === undefined || connection === undefined || client === undefined) {
    return undefined;
  }
  const ids = {
    instanceIntegrationId: connection.id,
    clientId: client.id,
    workerId: client.workers[1]?.id ?? '',
    userId: client.users[1]?.id ?? '',
  };
  return { apiKey: first.key, ids };
}
