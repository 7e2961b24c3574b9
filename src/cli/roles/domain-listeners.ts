import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.js';
import { packageRoot } from '../../config/package.js';
import { identifyServiceToken } from '../../domain/access/service-tokens.js';
import type { CallAudit } from '../../rpc/call-audit.js';
import { type Authenticate, callersOf, ROLE_RIGHTS } from '../../rpc/callers.js';
import type { CertificateFiles } from '../../rpc/certificate-files.js';
import { serverCredentials } from '../../rpc/connect.js';
import { type ServedService, serviceNameOf } from '../../rpc/handlers.js';
import { addHealth } from '../../rpc/health.js';
import { addReflection } from '../../rpc/reflection.js';
import { closeRpcServer, createRpcServer, type RpcServer } from '../../rpc/server.js';
import type { Store } from '../../store/store.js';
import type { Health } from '../../telemetry/health.js';
import { boundedWarnings, type Log } from '../../telemetry/log.js';
import { type RpcCallTimer, rpcCallTimer } from '../../telemetry/metrics.js';
import { grpcAddressOf } from '../from-config.js';
import { claimSocket, isListening, refuseLongSocket, socketPathOf } from '../sockets.js';
import { cannotListen, StartupError } from '../startup-error.js';
import type { RoleOptions } from './role.js';
import { liveTokens, roleAuthenticator } from './role-tokens.js';

const LOST_USES_PER_MINUTE = 1;

interface ListenerOptions extends RoleOptions {
  store: Store;
  services: readonly ServedService[];
  health: Health;
  audit: CallAudit;
  tlsFiles: CertificateFiles | undefined;
}

/** One server for edge and worker (tokens of the settings), one on the gRPC port (tokens of the database). */
export async function openListeners(options: ListenerOptions): Promise<{ close(): Promise<void> }> {
  const { config, services, tlsFiles } = options;
  const timer = rpcCallTimer(options.metrics);
  const roles = serverOf(
    { ...options, timer, services: services.filter(isForRoles) },
    roleAuthenticator(liveTokens(options, 'domain')),
  );
  const others = serverOf(
    { ...options, timer, services: services.filter((service) => !isForRoles(service)) },
    tokenAuthenticator(options.store, options.log),
  );
  const servers = [roles, others];
  try {
    await bindRoles(roles, config, tlsFiles);
    const address = grpcAddressOf(config);
    const credentials = serverCredentials(tlsFiles);
    await others.listen(address, credentials).catch(cannotListen(`The gRPC port ${address}`, 'GRPC_PORT'));
  } catch (error) {
    for (const server of servers) {
      server.forceShutdown();
    }
    throw error;
  }
  return {
    close: async () => {
      await Promise.all(servers.map((server) => closeRpcServer(server, config.SHUTDOWN_GRACE)));
    },
  };
}

function isForRoles({ definition }: ServedService): boolean {
  return Object.values(definition).every(({ path }) =>
    callersOf(path).every((caller) => ROLE_RIGHTS.has(caller)),
  );
}

function serverOf(
  { services, health, log, timer, audit, store }: ListenerOptions & { timer: RpcCallTimer },
  authenticate: Authenticate,
): RpcServer {
  const { readsBlock } = store;
  const server = createRpcServer({ services, authenticate, log, timer, audit, readsBlock });
  const reflected = {
    descriptorFile: join(packageRoot, 'generated/proto/descriptors.binpb'),
    services: services.map(({ definition }) => serviceNameOf(definition)),
  };
  addReflection(server, reflected);
  addHealth(server, async () =>
    (await health.readiness()).status === 'unready' ? 'NOT_SERVING' : 'SERVING',
  );
  return server;
}

/** Logs one line a minute: while the database refuses writes, each call tries again. */
export function warnsOfLostUse(log: Log, credential: string): (error: unknown) => void {
  const warn = boundedWarnings(log, LOST_USES_PER_MINUTE);
  return (error) =>
    warn(`the last use of ${credential} was not recorded`, { reason: (error as Error).message });
}

/** Authenticates service tokens of the database. */
export function tokenAuthenticator(store: Pick<Store, 'serviceTokens' | 'clock'>, log: Log): Authenticate {
  const onLostUse = warnsOfLostUse(log, 'a service token');
  return async (token) => {
    const known = await identifyServiceToken(store.serviceTokens, store.clock, token, onLostUse);
    return {
      caller: known.kind,
      tokenId: known.id,
      ownerId: known.ownerId ?? undefined,
      instanceId: known.instanceId ?? undefined,
    };
  };
}

async function bindRoles(
  server: RpcServer,
  config: Config,
  tlsFiles: CertificateFiles | undefined,
): Promise<void> {
  const socketPath = socketPathOf(config.DOMAIN_ADDRESS);
  if (socketPath !== undefined) {
    await bindSocket(server, socketPath);
  }
  const { ROLES_ADDRESS: address } = config;
  if (address !== undefined) {
    const clientsProve = config.GRPC_TLS_CLIENT_CA_FILE !== undefined;
    await server
      .listen(address, serverCredentials(tlsFiles, { clientsProve }))
      .catch(cannotListen(`The gRPC port ${address}`, 'ROLES_ADDRESS'));
  }
}

/** Runs before other files are written: two domains on one directory would overwrite each other's. */
export async function refuseSecondDomain({ DOMAIN_ADDRESS }: Config): Promise<void> {
  const path = socketPathOf(DOMAIN_ADDRESS);
  if (path === undefined) {
    return;
  }
  refuseLongSocket({ DOMAIN_ADDRESS });
  const refusal = `Another domain already runs on ${path}. Stop it, or set DATA_DIR to another directory.`;
  claimSocket(path, refusal);
  // Domains of earlier releases listen without the lock.
  if (await isListening({ path })) {
    throw new StartupError(refusal);
  }
}

/** Replaces the socket that a killed domain left behind. */
async function bindSocket(server: RpcServer, path: string): Promise<void> {
  try {
    rmSync(path, { force: true });
    await server.listen(`unix:${path}`);
    chmodSync(path, 0o600);
  } catch (error) {
    throw new StartupError(`The socket ${path} cannot be made: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}
