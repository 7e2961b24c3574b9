import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { Config } from '../../config/config.js';
import { createLog, type Log } from '../../telemetry/log.js';
import { startOpsServer } from '../../telemetry/ops-server.js';
import { welcome } from '../demo/welcome.js';
import { type RoleName, roleNames } from '../roles/role.js';
import { EXIT_CANNOT_START, listenError } from '../startup-error.js';
import { Child } from './child.js';
import { opsOfChildren } from './ops-of-children.js';
import { claimRunDir } from './run-dir.js';
import { freeTemporalAddress } from './temporal-address.js';

/** Edge first, so that nothing new comes in; the domain last, because the others need it to finish. */
const STOP_ORDER: readonly RoleName[] = ['edge', 'worker', 'domain'];

/** Runs all roles as children of this process: keeps them running, and ends them in order. */
export async function serve(config: Config, environment: NodeJS.ProcessEnv): Promise<void> {
  const log = createLog({ role: 'serve', level: config.LOG_LEVEL, format: config.LOG_FORMAT });
  const asked = untilSignalled();
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const runDir = await claimRunDir(config);
  const temporalAddress = await temporalAddressOf(config);
  let cannotStart: (sentence: string) => void = () => undefined;
  const refused = new Promise<string>((resolve) => {
    cannotStart = resolve;
  });
  const shared = {
    runDir,
    environment: childEnvironment(config, environment, temporalAddress),
    graceMs: config.SHUTDOWN_GRACE,
    log,
    onCannotStart: cannotStart,
  };
  const children = roleNames.map((role) => new Child({ role, ...shared }));
  const ops = await startOps(config, children);
  const temporal = await ownTemporal(config, temporalAddress, log, say);
  for (const child of children) {
    child.start();
  }
  temporal?.start();
  void Promise.all(children.map((child) => child.ready)).then(() => welcome(config, say));

  const sentence = await Promise.race([asked, refused]);
  for (const child of children) {
    child.expectToEnd();
  }
  for (const role of STOP_ORDER) {
    await children.find((child) => child.role === role)?.stop();
  }
  await temporal?.stop();
  ops.close();
  if (sentence !== undefined) {
    process.stderr.write(`${sentence}\n`);
  }
  process.exit(sentence === undefined ? 0 : EXIT_CANNOT_START);
}

function childEnvironment(
  config: Config,
  environment: NodeJS.ProcessEnv,
  temporalAddress: string | undefined,
) {
  // Made anew at each start unless it is set: then only children of this process know it.
  const token =
    config.SERVICE_TOKEN?.reveal() ?? `service_${config.ENVIRONMENT}_${randomBytes(32).toString('hex')}`;
  return {
    ...environment,
    SERVICE_TOKEN: token,
    ...(temporalAddress && { TEMPORAL_ADDRESS: temporalAddress }),
  };
}

function runsOwnTemporal({ ENVIRONMENT, TEMPORAL_ADDRESS }: Config): boolean {
  return ENVIRONMENT === 'demo' && TEMPORAL_ADDRESS === undefined;
}

async function temporalAddressOf(config: Config): Promise<string | undefined> {
  return runsOwnTemporal(config) ? freeTemporalAddress() : config.TEMPORAL_ADDRESS;
}

async function ownTemporal(
  config: Config,
  address: string | undefined,
  log: Log,
  say: (line: string) => void,
) {
  if (!runsOwnTemporal(config) || address === undefined) {
    return undefined;
  }
  const { TemporalOfDemo } = await import('./temporal-of-demo.js');
  return new TemporalOfDemo(config, address, log, say);
}

function startOps({ METRICS_HOST, METRICS_PORT }: Config, children: readonly Child[]): Promise<Server> {
  const target = { host: METRICS_HOST, port: METRICS_PORT };
  return startOpsServer(opsOfChildren(children), target).catch((error: unknown) => {
    throw listenError(`The port ${METRICS_HOST}:${METRICS_PORT}`, 'METRICS_PORT', error);
  });
}

function untilSignalled(): Promise<undefined> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => resolve(undefined));
    }
  });
}
