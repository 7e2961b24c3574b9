import { hostname } from 'node:os';
import { createActivities } from '../../../workflows/activities/index.js';
import type { RetryDependencies } from '../../../workflows/activities/retry-ports.js';
import { watchCodeMinutes } from '../../../workflows/code-minutes.js';
import { handOverRetryBatches } from '../../../workflows/retry-batches.js';
import { type RetryBatch, startRetry } from '../../../workflows/start-retry.js';
import { startTimedRetries } from '../../../workflows/timed-retries.js';
import { startTemporalWorker, type TemporalWorker } from '../../../workflows/worker.js';
import type { Config } from '../../config/config.js';
import { packageVersion } from '../../config/package.js';
import { AddressGuard } from '../../delivery/address-guard.js';
import type { Sender } from '../../delivery/attempt.js';
import { Relay } from '../../delivery/relay.js';
import { HttpSender } from '../../delivery/sender.js';
import type { RpcChannel } from '../../rpc/client.js';
import { type Check, Health } from '../../telemetry/health.js';
import { attemptMetrics, temporalPollingGauge } from '../../telemetry/metrics.js';
import { deliveriesOver } from './deliveries-over-grpc.js';
import { domainCheck, openDomainChannel, untilDomainServes } from './domain-channel.js';
import { codeMinutesOver, maintenanceOver } from './maintenance-over-grpc.js';
import { retriesOver, retryBatchesOver } from './retries-over-grpc.js';
import type { RoleOptions, RunningRole } from './role.js';
import { temporalAccess } from './temporal-access.js';
import { startTimedMaintenance } from './timed-maintenance.js';
import { clientTlsFiles } from './tls-files.js';

const HOUR_MS = 3_600_000;
const DOMAIN_START_LIMIT_MS = 3_000;

/** Of the second and third attempts that this worker makes at once: a subscription that fails is not to fill them all. */
const RETRIES_PER_SUBSCRIPTION = 16;

/** The domain, reached with each right of this role. */
interface Domain {
  relay: RpcChannel;
  maintenance: RpcChannel;
}

/**
 * Makes the first attempts at webhook deliveries, and works for Temporal whenever it is there. Where none is named, timers do what cannot
 * wait, further attempts among it; codes are over by themselves.
 */
export async function startWorker(options: RoleOptions): Promise<RunningRole> {
  const { config } = options;
  const tlsFiles = clientTlsFiles(options);
  const domain: Domain = {
    relay: openDomainChannel(config, 'relay', 'worker', tlsFiles),
    maintenance: openDomainChannel(config, 'maintenance', 'worker', tlsFiles),
  };
  await untilDomainServes(domain.relay, DOMAIN_START_LIMIT_MS);
  const sender = openSender(options);
  const ending = new AbortController();
  const retries = retriesWith(options, domain, sender, ending.signal);
  const temporal = await joinTemporal(options, domain, retries);
  const relay = startRelay(options, domain, sender);
  const timed = temporal ? undefined : startTimers(options, domain, retries);
  const health = new Health([domainCheck(domain.relay, domain.maintenance), temporalCheck(temporal)]);
  return {
    health,
    stop: async () => {
      health.drain();
      ending.abort();
      await Promise.all([relay.stop(config.SHUTDOWN_GRACE), temporal?.shutdown(), timed?.stop()]);
      await sender.close();
      domain.relay.close();
      domain.maintenance.close();
    },
  };
}

function openSender({ config, metrics }: RoleOptions): Sender {
  return new HttpSender({
    guard: new AddressGuard({
      allowedNetworks: config.WEBHOOK_ALLOWED_NETWORKS,
      allowLoopback: config.ENVIRONMENT === 'demo',
      allowedPorts: config.WEBHOOK_ALLOWED_PORTS,
    }),
    timeoutMs: config.WEBHOOK_TIMEOUT,
    version: packageVersion,
    metrics: attemptMetrics(metrics),
  });
}

function startRelay({ config, log }: RoleOptions, domain: Domain, sender: Sender): Relay {
  return new Relay({
    deliveries: deliveriesOver(domain.relay),
    sender,
    log,
    workerId: workerId(),
    sends: config.WEBHOOK_SENDS,
    sendsPerSubscription: config.WEBHOOK_SENDS_PER_SUBSCRIPTION,
  });
}

/** What retries are sent with: the relay's sender, and send slots of their own. */
function retriesWith(
  { config }: RoleOptions,
  domain: Domain,
  sender: Sender,
  ending: AbortSignal,
): RetryDependencies {
  const atOncePerSubscription = Math.min(RETRIES_PER_SUBSCRIPTION, config.WEBHOOK_SENDS_PER_SUBSCRIPTION);
  return {
    domain: retriesOver(domain.relay, workerId()),
    sender,
    sends: { atOnce: config.WEBHOOK_SENDS, atOncePerSubscription },
    ending,
  };
}

/** Names this worker in its calls. */
function workerId(): string {
  return `${hostname()}/${process.pid}`;
}

/** Without an address none is guessed: the one next door may belong to another environment. */
async function joinTemporal(
  { config, log, metrics }: RoleOptions,
  domain: Domain,
  webhookRetries: RetryDependencies,
): Promise<TemporalWorker | undefined> {
  const polling = temporalPollingGauge(metrics);
  if (config.TEMPORAL_ADDRESS === undefined) {
    log.warn(
      'TEMPORAL_ADDRESS is not set: timers retry webhooks, with no UI of what waits and without the signals retryNow and giveUp',
    );
    return undefined;
  }
  const codeMinutes = { list: codeMinutesOver(domain.maintenance), log };
  return startTemporalWorker({
    address: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    ...temporalAccess(config),
    activities: createActivities({ maintenance: maintenanceOver(domain.maintenance), webhookRetries }),
    schedules: {
      purge: { intervalMs: config.PURGE_INTERVAL, startAtOnce: true },
      signingKeyRotation: { intervalMs: advanceKeysEveryMs(config), startAtOnce: true },
    },
    companions: [
      (client, stop) => watchCodeMinutes(codeMinutes, client, stop),
      (client, stop) => {
        const start = (batch: RetryBatch) => startRetry(client, batch, stop);
        return handOverRetryBatches({ list: retryBatchesOver(domain.relay), start, log }, stop);
      },
    ],
    log,
    shutdownGraceMs: config.SHUTDOWN_GRACE,
    onState: ({ status }) => polling.set(status === 'polling' ? 1 : 0),
  });
}

function startTimers({ config, log }: RoleOptions, domain: Domain, retries: RetryDependencies) {
  const maintenance = startTimedMaintenance({
    maintenance: maintenanceOver(domain.maintenance),
    purgeEveryMs: config.PURGE_INTERVAL,
    advanceKeysEveryMs: advanceKeysEveryMs(config),
    log,
  });
  const webhooks = startTimedRetries({ retries, list: retryBatchesOver(domain.relay), log });
  return {
    stop: async () => {
      await Promise.all([maintenance.stop(), webhooks.stop(config.SHUTDOWN_GRACE)]);
    },
  };
}

/** A step that is due is not taken later than a lead after it. */
function advanceKeysEveryMs({ SIGNING_KEY_LEAD }: Config): number {
  return Math.min(HOUR_MS, SIGNING_KEY_LEAD);
}

function temporalCheck(temporal: TemporalWorker | undefined): Check {
  return {
    name: 'temporal',
    required: false,
    probe: () => {
      if (!temporal) {
        return { ok: false, detail: 'TEMPORAL_ADDRESS is not set, timers do its work' };
      }
      const { status, reason, since } = temporal.state;
      const ok = status === 'polling' && reason === undefined;
      return { ok, detail: `${reason ?? status} (since ${since.toISOString()})` };
    },
  };
}
