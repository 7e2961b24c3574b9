import type { Config } from '../../config/config.js';
import { demoAppId } from '../../domain/demo/applications.js';
import { demoAppInstances } from '../../domain/demo/seed.js';
import { createDemoApp, type DemoAppAccess } from '../../edge/demo-app/demo-app.js';
import type { Dispatch } from '../../edge/http/exchange.js';
import { demoFilePath, readDemoFile } from './demo-file.js';

export function demoAppUrl({ DEMO_APP_PORT }: Pick<Config, 'DEMO_APP_PORT'>): string {
  return `http://localhost:${DEMO_APP_PORT}`;
}

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
