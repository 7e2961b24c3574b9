import type { Config } from '../../config/config.js';
import { demoAppId } from '../../domain/demo/applications.js';
import { demoAppInstances, demoSeed } from '../../domain/demo/seed.js';
import { createDemoApp, type DemoAppAccess } from '../../edge/demo-app/demo-app.js';
import type { TryItValues } from '../../edge/docs/try-it-values.js';
import type { Dispatch } from '../../edge/http/exchange.js';
import { demoAppUrl } from '../from-config.js';
import { demoFilePath, readDemoFile } from './demo-file.js';

/** The application that a demo runs, with its credentials in demo.json. */
export function demoApp(config: Config): Dispatch {
  return createDemoApp({
    url: demoAppUrl(config),
    signOnUrl: config.SIGN_ON_URL,
    docsUrl: `${config.GATEWAY_URL}/docs`,
    instances: demoAppInstances(),
    access: () => accessIn(demoFilePath(config.DATA_DIR)),
  });
}

function accessIn(path: string): DemoAppAccess | undefined {
  const { applications = [], people = [] } = readDemoFile(path) ?? {};
  const { clientSecret } = applications.find(({ clientId }) => clientId === demoAppId) ?? {};
  return clientSecret === undefined ? undefined : { clientId: demoAppId, clientSecret, people };
}

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
