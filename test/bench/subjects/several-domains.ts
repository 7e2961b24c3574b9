import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../support/free-ports.js';
import { roleTokens } from '../../support/role-tokens.js';
import type { Scope } from '../harness/scope.js';
import { settingsOn } from './postgres.js';
import { dataDirIn, keyFileIn, MAIN, type RunningService } from './service.js';
import { slowWayTo } from './slow-way.js';
import { startNode, untilAnswers } from './started-process.js';

const FIRST_QUESTION = '/.well-known/openid-configuration';

/** Domains on one PostgreSQL, and the other roles that use them. */
export interface Domains {
  /** Where each serves the other roles, and the platform. */
  addresses: readonly { roles: string; grpc: string }[];
  /** Uses all of them. */
  startEdge(): Promise<Pick<RunningService, 'signOnPort' | 'env'>>;
  /** Uses only the domain of this number. */
  startWorker(domain: number): Promise<void>;
}

/** Each answer of PostgreSQL reaches them so much later. */
export async function startDomains(
  scope: Scope,
  workplace: string,
  { count, delayMs }: { count: number; delayMs: number },
): Promise<Domains> {
  const { DATABASE_URL = '' } = await settingsOn('PostgreSQL', scope, workplace);
  const slowUrl = await slowWayTo({ databaseUrl: DATABASE_URL, delayMs }, scope);
  const [signOn, gateway, demoApp, closed] = await freePorts(4);
  const common = {
    ...roleTokens,
    ENVIRONMENT: 'demo',
    SECRETS_KEY_FILE: keyFileIn(workplace),
    SIGN_ON_PORT: String(signOn),
    GATEWAY_PORT: String(gateway),
    DEMO_APP_PORT: String(demoApp),
    TEMPORAL_ADDRESS: `127.0.0.1:${closed}`,
    TRUSTED_PROXIES: '127.0.0.1/32',
  };
  const run = async (name: string, command: string, env: Record<string, string>) => {
    const [metrics] = (await freePorts(1)) as [number];
    const started = startNode(scope, {
      arguments: [MAIN, command],
      env: { ...common, DATA_DIR: join(workplace, name), METRICS_PORT: String(metrics), ...env },
      logFile: join(workplace, `${name}.log`),
    });
    return { started, isReady: () => untilAnswers(started, metrics, '/readyz', () => ({})) };
  };
  const startDomain = async (_: unknown, index: number) => {
    const [roles, grpc] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`) as [string, string];
    const name = `domain-${index}`;
    mkdirSync(join(workplace, name));
    // All domains share the credentials of the demo, because they share the database.
    copyFileSync(join(dataDirIn(workplace), 'demo.json'), join(workplace, name, 'demo.json'));
    const { isReady } = await run(name, 'domain', {
      DATABASE_URL: slowUrl,
      ROLES_ADDRESS: roles,
      GRPC_PORT: new URL(`tcp://${grpc}`).port,
    });
    await isReady();
    return { roles, grpc };
  };
  const addresses = await Promise.all(Array.from({ length: count }, startDomain));
  return {
    addresses,
    startEdge: async () => {
      const all = addresses.map(({ roles }) => roles).join();
      const { started } = await run('edge', 'edge', { DOMAIN_ADDRESS: all });
      await untilAnswers(started, Number(signOn), FIRST_QUESTION, () => ({}));
      return { signOnPort: Number(signOn), env: { DATABASE_URL } };
    },
    startWorker: async (domain) => {
      const { roles = '' } = addresses[domain] ?? {};
      const { isReady } = await run(`worker-${domain}`, 'worker', { DOMAIN_ADDRESS: roles });
      await isReady();
    },
  };
}
