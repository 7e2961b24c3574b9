import { Gatekeeper } from '../../domain/access/gatekeeper.js';
import { RateLimiter } from '../../domain/access/rate-limiter.js';
import { limitersOver } from '../../domain/access/shared-limiter.js';
import type { PasswordHasher } from '../../domain/credentials/passwords.js';
import { nextExpiries } from '../../domain/maintenance/expiry.js';
import { agreedTime, purgeLags } from '../../domain/maintenance/purge.js';
import { AuditTally } from '../../domain/operator/audit-tally.js';
import { type KeyRotation, keyStepLag } from '../../domain/sign-on/keys/key-rotation.js';
import { RATES } from '../../domain/sign-on/sign-on.js';
import { asServiceError } from '../../errors/service-error.js';
import { threadedPasswordHasher } from '../../passwords/password-hasher.js';
import { allServices } from '../../rpc/domain-server/index.js';
import type { Store } from '../../store/store.js';
import { Health } from '../../telemetry/health.js';
import { boundedWarnings, type Log } from '../../telemetry/log.js';
import { counter } from '../../telemetry/metric-list.js';
import { passwordMetrics } from '../../telemetry/metrics.js';
import {
  heldBackGauges,
  keyStepLagGauge,
  nextExpiryGauge,
  purgedRowsCounter,
  purgeLagGauge,
  storeSizeGauges,
} from '../../telemetry/store-metrics.js';
import { prepareDemo } from '../demo/prepare-demo.js';
import { refuseUnusableFiles, retentionOf } from '../from-config.js';
import { refuseTakenPorts } from '../ports.js';
import { refuseUnreachableDomain } from '../sockets.js';
import { openListeners, refuseSecondDomain, warnsOfLostUse } from './domain-listeners.js';
import { ABSENCES_PER_MINUTE, openDomainStore, storeChecks, traced } from './domain-store.js';
import { firstLookOf, startKeepingAudit } from './keeping-audit.js';
import { encryptionKeyCheck, type KeepingKeys, startKeepingKeys } from './keeping-keys.js';
import type { RoleOptions, RunningRole } from './role.js';
import { openSecrets, type Secrets } from './secrets.js';
import { startClosingSubscriptions, startWarningOfExpiry } from './timers.js';
import { serverFiles, watchedTlsFiles } from './tls-files.js';
import { webhookParts } from './webhooks.js';

/** The rules and the store behind gRPC. */
export async function startDomain(role: RoleOptions): Promise<RunningRole> {
  const { config, log, metrics } = role;
  const tlsFiles = watchedTlsFiles(role, serverFiles(config));
  // All before the migration, after which an earlier release may not start any more.
  refuseUnreachableDomain(config);
  refuseUnusableFiles(config);
  await refuseSecondDomain(config);
  await refuseTakenPorts(config, role.openers);
  const store = await openDomainStore(role, (failure) => endWith('Writing to the disk failed', failure));
  const passwords = threadedPasswordHasher({
    onThreadDeath: (cause) =>
      log.error('a thread that checks passwords ended or cannot start', { reason: (cause as Error).message }),
    watch: passwordMetrics(metrics),
  });
  let keeping: KeepingKeys | undefined;
  try {
    const firstLook = await firstLookOf(store);
    const secrets = await openSecrets(config, store, log);
    await store.claimIssuer();
    if (config.ENVIRONMENT === 'demo') {
      await prepareDemo(config, store.demo, passwords);
    }
    keeping = startKeepingKeys(secrets.keeper, log, (error) =>
      endWith('This version can no longer serve the database', error),
    );
    const health = new Health([...storeChecks(store), encryptionKeyCheck(secrets.keeper)]);
    const tally = new AuditTally(store.observations, store.clock);
    showStore(role, store, secrets.rotation);
    const services = servicesOf(role, store, secrets, { passwords, keeping, tally });
    const listeners = await openListeners({ ...role, store, services, health, audit: tally, tlsFiles });
    const closing = startClosingSubscriptions(store.operator, log);
    const warning = startWarningOfExpiry(store, config.WEBHOOK_FAILING_LIMIT, log);
    const audit = startKeepingAudit(store, tally, log, firstLook);
    return {
      health,
      stop: async () => {
        health.drain();
        // Ends the waiting calls of relays.
        store.deliveriesDue.close();
        await Promise.all([listeners.close(), closing.stop(), warning.stop()]);
        // After the last call: until then other nodes must not remove what this one uses.
        await keeping?.stop();
        // After the last call that it records.
        await audit.stop();
        await passwords.close();
        await store.close();
      },
    };
  } catch (error) {
    await keeping?.stop();
    await passwords.close();
    await store.close();
    throw error;
  }
}

function servicesOf(
  role: RoleOptions,
  store: Store,
  { derived, keyRing, rotation }: Secrets,
  { passwords, keeping, tally }: { passwords: PasswordHasher; keeping: KeepingKeys; tally: AuditTally },
) {
  const { config, metrics, log } = role;
  const { clock } = store;
  const newLimiter = limitersOf(store, derived.throttles, log);
  const perIntegration = newLimiter('gateway', config.GATEWAY_RATE_LIMIT, { asksFirst: true });
  const lostUse = warnsOfLostUse(log, 'an API key');
  const faults = counter('authorization_faults_total', metrics);
  const gatekeeper = new Gatekeeper(store.visits, perIntegration, clock, lostUse, tally.observe);
  return allServices({
    ...webhookParts(role, store, derived),
    directory: {
      gatekeeper,
      closing: store.deliveriesDue.closing,
      cursors: derived.changeCursors,
      ...store,
    },
    signOn: {
      issuer: config.SIGN_ON_URL,
      clock,
      unitOfWork: traced(store.signOn),
      passwords,
      keys: keyRing,
      refreshTokens: derived.refreshTokens,
      formTokens: derived.formTokens,
      interactionSeals: derived.interactionSeals,
      throttleHash: derived.throttles,
      sessionLimits: { idleMs: config.SESSION_IDLE_LIMIT, absoluteMs: config.SESSION_LIFETIME },
      strangers: newLimiter('strangers', RATES.strangers),
      crowds: newLimiter('crowds', RATES.crowds),
      browsers: new RateLimiter(RATES.browsers, clock),
      guesses: newLimiter('guesses', RATES.guesses),
      people: newLimiter('people', RATES.people),
      peopleByDay: newLimiter('people by day', RATES.peopleByDay),
      refusalRecords: new RateLimiter(RATES.refusalRecords, clock),
      wrongSecrets: newLimiter('wrong secrets', RATES.wrongSecrets),
      onBackgroundError: warnsOfLostUse(log, 'a client secret'),
      onFault: (requestId, fault) => {
        faults.inc();
        log.error('authorization failed', { requestId, ...causeOf(fault) });
      },
      observe: tally.observe,
    },
    platform: {
      unitOfWork: traced(store.platform),
      forgetCopies: store.forgetCopies,
      clock,
      passwords,
      signOnUrl: config.SIGN_ON_URL,
      hashRequest: derived.idempotency,
    },
    operator: {
      unitOfWork: traced(store.operator),
      environment: config.ENVIRONMENT,
      clock,
      signingKeys: rotation,
      auditMac: derived.audit,
      encryptionKeys: keeping,
    },
    maintenance: {
      purge: store.purge,
      retention: retentionOf(config),
      onPurged: purgedRowsCounter(metrics),
      signOn: store.signOn,
      signingKeys: rotation,
      clock,
      removalTime: agreedTime(clock, Date.now, (apartMs) =>
        apartMs === undefined
          ? log.info('the purge goes on: the clocks of this machine and of PostgreSQL agree again')
          : log.error(
              'the purge removes nothing: the clocks of this machine and of PostgreSQL are more than 5 min apart',
              { apartMs },
            ),
      ),
    },
  });
}

/** Count over all nodes, or on this one alone while the database does not answer. */
function limitersOf(store: Store, hash: (text: string) => Buffer, log: Log) {
  const warnOfAbsence = boundedWarnings(log, ABSENCES_PER_MINUTE);
  return limitersOver({
    store: store.callCounts,
    clock: store.clock,
    hash,
    listener: {
      onAway: (reason) =>
        warnOfAbsence('limits count on this node alone until the database answers', { reason }),
      onBack: () => log.info('limits count over all nodes again'),
    },
  });
}

/** The gauges that are read from the store. */
function showStore({ config, metrics }: RoleOptions, store: Store, rotation: KeyRotation): void {
  const { clock, purge, expiry, changes } = store;
  const retention = retentionOf(config);
  purgeLagGauge(metrics, () => purgeLags(purge, retention, clock));
  keyStepLagGauge(metrics, () => keyStepLag(rotation));
  storeSizeGauges(metrics, () => store.size());
  heldBackGauges(metrics, () => changes.heldBack());
  const failingLimitMs = config.WEBHOOK_FAILING_LIMIT;
  nextExpiryGauge(metrics, () => nextExpiries(expiry, { clock, failingLimitMs }));
}

/** Ends the process. After a failed sync, a new one writes what it reads into the database file anew. */
function endWith(what: string, failure: unknown): void {
  setImmediate(() => {
    throw new Error(`${what}: ${(failure as Error).message}`, { cause: failure });
  });
}

function causeOf(fault: unknown) {
  const { internal, cause } = asServiceError(fault);
  return { internal, stack: cause instanceof Error ? cause.stack : undefined };
}
