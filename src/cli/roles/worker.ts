import { DeliveryServiceService } from '../../../generated/proto/integration/webhooks/v1/sending.js';
import { startTemporalWorker, type TemporalWorker } from '../../../workflows/worker.js';
import type { Config } from '../../config/config.js';
import { packageVersion } from '../../config/package.js';
import { AddressGuard } from '../../delivery/address-guard.js';
import type { Sender } from '../../delivery/attempt.js';
import { Relay } from '../../delivery/relay.js';
import { HttpSender } from '../../delivery/sender.js';
import type { RpcChannel } from '../../rpc/client.js';
import { type Check, Health } from '../../telemetry/health.js';
import { gauge } from '../../telemetry/metric-list.js';
import { domainsGauge, temporalBacklogGauge } from '../../telemetry/metrics.js';
import { attemptMetrics, relayMetrics } from '../../telemetry/webhook-metrics.js';
import { addressRulesOf } from '../from-config.js';
import { maintenanceOver } from './calls-of-domain.js';
import { domainCheck, openDomainChannel, untilDomainServes } from './domain-channel.js';
import type { RoleOptions, RunningRole } from './role.js';
import { liveTokens } from './role-tokens.js';
import { currentTemporalAccess } from './temporal/access.js';
import { advanceKeysEveryMs, startTimedMaintenance, startTimersInAbsence } from './timed-maintenance.js';
import { clientFiles, watchedTlsFiles } from './tls-files.js';

/** The domain, by one channel for each right of this role. */
export interface WorkersDomain {
  relay: RpcChannel;
  maintenance: RpcChannel;
}

/**
 * Makes every attempt at webhook deliveries, and works for Temporal when it is reachable. If none is
 * configured, or it is away, timers purge and rotate keys; codes expire and retries are due by their times
 * in the database.
 */
export async function startWorker(options: RoleOptions): Promise<RunningRole> {
  const { config } = options;
  const tlsFiles = watchedTlsFiles(options, clientFiles(options.config));
  const onChange = () => {
    domain.relay.renew();
    domain.maintenance.renew();
  };
  const tokens = liveTokens(options, 'worker', onChange);
  const domain: WorkersDomain = {
    relay: openDomainChannel(options, tokens, 'relay', tlsFiles),
    maintenance: openDomainChannel(options, tokens, 'maintenance', tlsFiles),
  };
  domainsGauge(options.metrics, () => ({
    relay: domain.relay.reports(),
    maintenance: domain.maintenance.reports(),
  }));
  await untilDomainServes(domain.relay, domain.maintenance);
  const sender = openSender(options);
  const temporal = await joinTemporal(options, domain);
  const relay = startRelay(options, domain, sender);
  const timed = startTimers(options, domain, temporal);
  const health = new Health([domainCheck(domain.relay, domain.maintenance), temporalCheck(temporal)]);
  return {
    health,
    stop: async () => {
      health.drain();
      await Promise.all([relay.stop(config.SHUTDOWN_GRACE), temporal?.shutdown(), timed.stop()]);
      sender.close();
      domain.relay.close();
      domain.maintenance.close();
    },
  };
}

function openSender({ config, metrics }: RoleOptions): Sender {
  return new HttpSender({
    guard: new AddressGuard(addressRulesOf(config)),
    timeoutMs: config.WEBHOOK_TIMEOUT,
    version: packageVersion,
    metrics: attemptMetrics(metrics),
  });
}

function startRelay({ config, log, metrics }: RoleOptions, domain: WorkersDomain, sender: Sender): Relay {
  return new Relay({
    deliveries: domain.relay.clientOf(DeliveryServiceService),
    sender,
    log,
    sends: config.WEBHOOK_SENDS,
    sendsPerSubscription: config.WEBHOOK_SENDS_PER_SUBSCRIPTION,
    metrics: relayMetrics(metrics),
  });
}

/** Requires an address: a server on the usual port may belong to another environment. */
async function joinTemporal(
  { config, log, metrics }: RoleOptions,
  domain: WorkersDomain,
): Promise<TemporalWorker | undefined> {
  const polling = gauge('temporal_worker_polling', metrics);
  const onBacklog = temporalBacklogGauge(metrics);
  gauge('temporal_configured', metrics).set(config.TEMPORAL_ADDRESS === undefined ? 0 : 1);
  if (config.TEMPORAL_ADDRESS === undefined) {
    log.warn(
      'TEMPORAL_ADDRESS is not set: webhooks are retried when they are due, with no UI of what waits and without the signals retryNow and giveUp',
    );
    return undefined;
  }
  return startTemporalWorker({
    address: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    version: versionOf(config),
    access: () => currentTemporalAccess(config),
    work: async () => {
      const { temporalWork } = await import('./temporal/work.js');
      return temporalWork({ config, log }, domain, onBacklog);
    },
    log,
    shutdownGraceMs: config.SHUTDOWN_GRACE,
    onState: ({ awaySince }) => polling.set(awaySince === undefined ? 1 : 0),
  });
}

function versionOf({ TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId }: Config) {
  return deploymentName === undefined ? undefined : { deploymentName, buildId: buildId ?? packageVersion };
}

function startTimers(
  { config, log }: RoleOptions,
  domain: WorkersDomain,
  temporal: TemporalWorker | undefined,
) {
  const timers = {
    maintenance: maintenanceOver(domain.maintenance),
    purgeEveryMs: config.PURGE_INTERVAL,
    advanceKeysEveryMs: advanceKeysEveryMs(config),
    log,
  };
  return temporal
    ? startTimersInAbsence({ temporal, clock: Date.now }, timers)
    : startTimedMaintenance(timers);
}

function temporalCheck(temporal: TemporalWorker | undefined): Check {
  return {
    name: 'temporal',
    required: false,
    probe: () => {
      if (!temporal) {
        return { ok: false, detail: 'TEMPORAL_ADDRESS is not set: timers do its work' };
      }
      const { status, reason, since } = temporal.state;
      const ok = status === 'polling' && reason === undefined;
      return { ok, detail: `${reason ?? status} (since ${since.toISOString()})` };
    },
  };
}
