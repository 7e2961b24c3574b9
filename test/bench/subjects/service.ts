import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../support/free-ports.js';
import type { Scope } from '../harness/scope.js';
import { type StartedProcess, startNode, untilAnswers } from './started-process.js';

export const MAIN = join(import.meta.dirname, '../../../dist/src/cli/main.js');
const FIRST_QUESTION = '/v1/instance-integrations';

export interface RunningService extends StartedProcess {
  gatewayPort: number;
  signOnPort: number;
  /** The settings it runs with. */
  env: Readonly<Record<string, string>>;
  /** A demo key of an integration with this number of connections. */
  apiKeyFor(instanceIntegrations: number): string;
  /** The demo key that reaches this instance integration. */
  apiKeyReaching(instanceIntegrationId: string): string;
}

/** All roles with default settings, except the rate limit and those given. Resolves at the first 200. */
export async function startService(
  scope: Scope,
  workplace: string,
  settings: Readonly<Record<string, string | undefined>> = {},
  command = MAIN,
): Promise<RunningService> {
  const [signOn, gateway, grpc, metrics, temporalUi, demoApp, closed] = (await freePorts(7)) as [
    number,
    number,
    ...number[],
  ];
  const env = {
    ENVIRONMENT: 'demo',
    DATA_DIR: dataDirIn(workplace),
    SIGN_ON_PORT: String(signOn),
    GATEWAY_PORT: String(gateway),
    GRPC_PORT: String(grpc),
    METRICS_PORT: String(metrics),
    TEMPORAL_UI_PORT: String(temporalUi),
    DEMO_APP_PORT: String(demoApp),
    TEMPORAL_ADDRESS: `127.0.0.1:${closed}`,
    GATEWAY_RATE_LIMIT: '999999999/1h',
    // The load says by X-Forwarded-For whom it stands for: one address would not be let guess so often.
    TRUSTED_PROXIES: '127.0.0.1/32',
    ...settings,
  };
  const started = startNode(scope, {
    arguments: [command, 'serve'],
    env,
    logFile: join(workplace, 'service.log'),
  });
  const demoFile = join(dataDirIn(workplace), 'demo.json');
  const apiKeyFor = (instanceIntegrations: number) =>
    apiKeyOf(demoFile, ({ length }) => length === instanceIntegrations);
  const apiKeyReaching = (id: string) => apiKeyOf(demoFile, (ids) => ids.includes(id));
  const headersNow = (): Record<string, string> =>
    existsSync(demoFile) ? { 'x-api-key': apiKeyFor(1) } : {};
  await untilAnswers(started, gateway, FIRST_QUESTION, headersNow);
  return { ...started, gatewayPort: gateway, signOnPort: signOn, env, apiKeyFor, apiKeyReaching };
}

export function dataDirIn(workplace: string): string {
  return join(workplace, 'data');
}

export function databaseIn(workplace: string): string {
  return join(dataDirIn(workplace), 'integration.db');
}

export function keyFileIn(workplace: string): string {
  return `${dataDirIn(workplace)}.keys/secrets.key`;
}

function apiKeyOf(demoFile: string, suits: (instanceIntegrationIds: readonly string[]) => boolean): string {
  const { apiKeys } = JSON.parse(readFileSync(demoFile, 'utf8')) as {
    apiKeys: { key: string; instanceIntegrationIds: string[] }[];
  };
  const found = apiKeys.find(({ instanceIntegrationIds }) => suits(instanceIntegrationIds));
  if (!found) {
    throw new Error('The demo has no integration with such instance integrations.');
  }
  return found.key;
}
