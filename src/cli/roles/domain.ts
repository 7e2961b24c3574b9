import { timingSafeEqual } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import { type Config, hostAndPort } from '../../config/config.js';
import { packageRoot } from '../../config/package.js';
import { Gatekeeper } from '../../domain/access/gatekeeper.js';
import { RateLimiter } from '../../domain/access/rate-limiter.js';
import { identifyServiceToken, noteUseOfServiceToken } from '../../domain/access/service-tokens.js';
import type { PasswordHasher } from '../../domain/credentials/passwords.js';
import { PEOPLE_RATE, STRANGERS_RATE } from '../../domain/sign-on/sign-on.js';
import { WRONG_SECRETS_RATE } from '../../domain/sign-on/token-issuer.js';
import { hashSecret } from '../../identifiers/secret-hash.js';
import { threadedPasswordHasher } from '../../passwords/password-hasher.js';
import type { Authenticate } from '../../rpc/callers.js';
import { serverCredentials } from '../../rpc/connect.js';
import { serviceNameOf } from '../../rpc/definitions.js';
import { addHealth } from '../../rpc/health.js';
import { addReflection } from '../../rpc/reflection.js';
import { bind, closeRpcServer, createRpcServer } from '../../rpc/server.js';
import { allServices } from '../../rpc/services/index.js';
import { openStore, type Store } from '../../store/store.js';
import { Health } from '../../telemetry/health.js';
import type { Log } from '../../telemetry/log.js';
import { rpcCallTimer } from '../../telemetry/metrics.js';
import { prepareDemo } from '../demo/prepare-demo.js';
import { listenError, StartupError, withTlsFiles } from '../startup-error.js';
import { refuseLongSocketPath, socketAnswers } from '../unix-socket.js';
import { startClosingSubscriptions } from './closing-subscriptions.js';
import { type KeepingKeys, startKeepingKeys } from './keeping-keys.js';
import type { RoleOptions, RunningRole } from './role.js';
import { openSecrets, type Secrets } from './secrets.js';
import { webhookParts } from './webhooks.js';

/** The rules and the store behind gRPC: on a socket for the other roles, on a port for the platform and operators. */
export async function startDomain({ config, log, metrics }: RoleOptions): Promise<RunningRole> {
  await refuseSecondDomain(config);
  const store = await openStore({
    environment: config.ENVIRONMENT,
    dataDir: config.DATA_DIR,
    databaseUrl: config.DATABASE_URL?.reveal(),
    onIdleError: (error) => log.warn('a database connection broke', { reason: error.message }),
    checkpoints: {
      onThreadDeath: (cause) =>
        log.error('the thread that tidies up the database ended', { reason: cause.message }),
    },
    onDiskFailure: endWith,
  });
  const passwords = threadedPasswordHasher({
    onThreadDeath: (cause) =>
      log.error('a thread that checks passwords ended', { reason: (cause as Error).message }),
  });
  let stopKeeping = async () => {};
  try {
    const secrets = await openSecrets(config, store, log);
    if (config.ENVIRONMENT === 'demo') {
      await prepareDemo(config, store.demo, passwords);
    }
    const keeping = startKeepingKeys(secrets.keeper, log);
    stopKeeping = () => keeping.stop();
    const authenticate = authenticator(config, store, log);
    const services = servicesOf(config, store, { passwords, keeping, ...secrets }, log);
    const server = createRpcServer({ services, authenticate, log, timer: rpcCallTimer(metrics) });
    addReflection(server, {
      descriptorFile: join(packageRoot, 'generated/proto/descriptors.binpb'),
      services: services.map(({ definition }) => serviceNameOf(definition)),
    });
    const health = new Health([
      { name: 'database', required: true, probe: () => store.ping().then(() => ({ ok: true })) },
    ]);
    addHealth(server, async () =>
      (await health.readiness()).status === 'unready' ? 'NOT_SERVING' : 'SERVING',
    );
    await bindAll(server, config);
    const closing = startClosingSubscriptions(store.webhooks, log);
    return {
      health,
      stop: async () => {
        health.drain();
        // Whoever waits for deliveries goes home at once.
        store.deliveriesDue.close();
        await Promise.all([closeRpcServer(server, config.SHUTDOWN_GRACE), closing.stop(), keeping.stop()]);
        await passwords.close();
        await store.close();
      },
    };
  } catch (error) {
    await stopKeeping();
    await passwords.close();
    await store.close();
    throw error;
  }
}

function servicesOf(
  config: Config,
  store: Store,
  {
    passwords,
    derived,
    keyRing,
    rotation,
    keeping,
  }: Secrets & {
    passwords: PasswordHasher;
    keeping: KeepingKeys;
  },
  log: Log,
) {
  const note = (what: string) => (error: unknown) => log.warn(what, { reason: (error as Error).message });
  const limiter = new RateLimiter(config.GATEWAY_RATE_LIMIT, Date.now);
  const lostUse = note('the last use of an API key was not recorded');
  const gatekeeper = new Gatekeeper(store.visits, limiter, Date.now, lostUse);
  return allServices({
    ...webhookParts(config, store, { derived }, log),
    directory: { gatekeeper, ...store },
    signOn: {
      issuer: config.SIGN_ON_URL,
      environment: config.ENVIRONMENT,
      clock: Date.now,
      unitOfWork: store.signOn,
      passwords,
      signer: keyRing,
      idTokens: keyRing,
      keys: keyRing,
      refreshTokens: derived.refreshTokens,
      formTokens: derived.formTokens,
      interactionSeals: derived.interactionSeals,
      throttleHash: derived.throttles,
      sessionLimits: { idleMs: config.SESSION_IDLE_LIMIT, absoluteMs: config.SESSION_LIFETIME },
      strangers: new RateLimiter(STRANGERS_RATE, Date.now),
      people: new RateLimiter(PEOPLE_RATE, Date.now),
      wrongSecrets: new RateLimiter(WRONG_SECRETS_RATE, Date.now),
      onBackgroundError: note('the last use of a client secret was not recorded'),
    },
    platform: {
      unitOfWork: store.platform,
      passwords,
      signOnUrl: config.SIGN_ON_URL,
      hashRequest: derived.idempotency,
    },
    operator: {
      unitOfWork: store.operator,
      environment: config.ENVIRONMENT,
      clock: Date.now,
      signingKeys: rotation,
      encryptionKeys: keeping,
    },
    maintenance: {
      purge: store.purge,
      retention: {
        credentialsMs: config.API_KEY_RETENTION,
        sessionIdleMs: config.SESSION_IDLE_LIMIT,
        auditMs: config.AUDIT_RETENTION,
        idempotencyMs: config.IDEMPOTENCY_RETENTION,
        eventsMs: config.EVENT_RETENTION,
      },
      codeMinutes: store.codeMinutes,
      signingKeys: rotation,
      clock: Date.now,
    },
  });
}

function authenticator(config: Config, store: Store, log: Log): Authenticate {
  const expected = config.SERVICE_TOKEN && hashSecret(config.SERVICE_TOKEN.reveal());
  return async (token) => {
    if (expected && timingSafeEqual(hashSecret(token), expected)) {
      return { caller: 'service' };
    }
    const known = await identifyServiceToken(store.serviceTokens, Date.now, token);
    // Nobody waits for it: a lost note costs some accuracy.
    noteUseOfServiceToken(store.serviceTokens, Date.now, known).catch((error: unknown) =>
      log.warn('the last use of a service token was not recorded', { reason: (error as Error).message }),
    );
    return { caller: known.kind, tokenId: known.id };
  };
}

async function bindAll(server: Server, config: Config): Promise<void> {
  const socketPath = socketPathOf(config.DOMAIN_ADDRESS);
  if (socketPath !== undefined) {
    await bindSocket(server, socketPath);
  }
  const tls = withTlsFiles(['GRPC_TLS_CERT_FILE', 'GRPC_TLS_KEY_FILE'], () =>
    serverCredentials({ certFile: config.GRPC_TLS_CERT_FILE, keyFile: config.GRPC_TLS_KEY_FILE }),
  );
  const address = hostAndPort(config.GRPC_HOST, config.GRPC_PORT);
  await bind(server, address, tls).catch((error: unknown) => {
    throw listenError(`The gRPC port ${address}`, 'GRPC_PORT', asListenFailure(error));
  });
}

/** Before anything is written: two domains on one directory would write over each other's files. */
async function refuseSecondDomain({ DOMAIN_ADDRESS }: Config): Promise<void> {
  const path = socketPathOf(DOMAIN_ADDRESS);
  if (path !== undefined && (await socketAnswers(path))) {
    throw new StartupError(
      `Another domain already runs on ${path}. Stop it, or set DATA_DIR to another directory.`,
    );
  }
}

/** Takes the place of a socket that a killed domain left behind. */
async function bindSocket(server: Server, path: string): Promise<void> {
  refuseLongSocketPath(path);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rmSync(path, { force: true });
    await bind(server, `unix:${path}`);
    chmodSync(path, 0o600);
  } catch (error) {
    throw new StartupError(`The socket ${path} cannot be made: ${(error as Error).message}.`);
  }
}

function socketPathOf(address: string): string | undefined {
  return address.startsWith('unix:') ? address.slice('unix:'.length) : undefined;
}

/** grpc-js reports the system's code in the text of its message only. */
function asListenFailure(error: unknown): unknown {
  const code = /\b(EADDRINUSE|EACCES|EADDRNOTAVAIL)\b/.exec((error as Error).message)?.[1];
  return code ? Object.assign(new Error((error as Error).message), { code }) : error;
}

/** Nothing can be promised any more by this process; a fresh one opens the database anew and finds what the disk has. */
function endWith(failure: unknown): void {
  setImmediate(() => {
    throw new Error(`The disk did not take what was written: ${(failure as Error).message}.`, {
      cause: failure,
    });
  });
}
