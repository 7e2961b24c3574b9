import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../support/free-ports.js';
import { roleTokens } from '../../support/role-tokens.js';
import type { Scope } from '../harness/scope.js';
import { settingsOn } from './postgres.js';
import { dataDirIn, MAIN, type RunningService } from './service.js';
import { slowWayTo } from './slow-way.js';
import { startNode, untilAnswers } from './started-process.js';

/** Domains on one PostgreSQL whose answers are delayed, and an edge that uses all of them. */
export async function startDomains(
  scope: Scope,
  workplace: string,
  { count, delayMs }: { count: number; delayMs: number },
): Promise<Pick<RunningService, 'signOnPort' | 'env'>> {
  const { DATABASE_URL = '' } = await settingsOn('PostgreSQL', scope, workplace);
  const [signOn, gateway, demoApp, edgeMetrics, ...ports] = await freePorts(4 + 3 * count);
  const common = {
    ...roleTokens,
    ENVIRONMENT: 'demo',
    SECRETS_KEY_FILE: `${dataDirIn(workplace)}.keys/secrets.key`,
    SIGN_ON_PORT: String(signOn),
    GATEWAY_PORT: String(gateway),
    DEMO_APP_PORT: String(demoApp),
    TRUSTED_PROXIES: '127.0.0.1/32',
  };
  const slowUrl = await slowWayTo({ databaseUrl: DATABASE_URL, delayMs }, scope);
  const run = (name: string, command: string, env: Record<string, string>) =>
    startNode(scope, {
      arguments: [MAIN, command],
      env: { ...common, ...env },
      logFile: join(workplace, `${name}.log`),
    });
  const addresses = Array.from({ length: count }, (_, index) => {
    const [roles, grpc, metrics] = ports.slice(3 * index);
    const dataDir = join(workplace, `domain-${index}`);
    mkdirSync(dataDir);
    // All domains share the credentials of the demo, because they share the database.
    copyFileSync(join(dataDirIn(workplace), 'demo.json'), join(dataDir, 'demo.json'));
    const address = `127.0.0.1:${roles}`;
    run(`domain-${index}`, 'domain', {
      DATA_DIR: dataDir,
      DATABASE_URL: slowUrl,
      ROLES_ADDRESS: address,
      GRPC_PORT: String(grpc),
      METRICS_PORT: String(metrics),
    });
    return address;
  });
  const edge = run('edge', 'edge', {
    DATA_DIR: join(workplace, 'edge'),
    DOMAIN_ADDRESS: addresses.join(),
    METRICS_PORT: String(edgeMetrics),
  });
  await untilAnswers(edge, Number(signOn), '/.well-known/openid-configuration', () => ({}));
  return { signOnPort: Number(signOn), env: { DATABASE_URL } };
}
