import { createActivities } from '../../../workflows/activities/index.js';
import { watchCodeMinutes } from '../../../workflows/code-minutes.js';
import { startTemporalWorker, type TemporalWorker } from '../../../workflows/worker.js';
import type { Config } from '../../config/config.js';
import type { RpcChannel } from '../../rpc/client.js';
import { type Check, Health } from '../../telemetry/health.js';
import { temporalPollingGauge } from '../../telemetry/metrics.js';
import { domainCheck, openDomainChannel } from './domain-channel.js';
import { codeMinutesOver, maintenanceOver } from './maintenance-over-grpc.js';
import type { RoleOptions, RunningRole } from './role.js';
import { temporalAccess } from './temporal-access.js';
import { startTimedMaintenance } from './timed-maintenance.js';

const HOUR_MS = 3_600_000;

/** Works for Temporal whenever it is there. Where none is named, timers do what cannot wait; codes are over by themselves. */
export async function startWorker(options: RoleOptions): Promise<RunningRole> {
  const { config } = options;
  const domain = openDomainChannel(config, 'worker');
  const temporal = await joinTemporal(options, domain);
  const timed = temporal ? undefined : startTimers(options, domain);
  const health = new Health([domainCheck(domain), temporalCheck(temporal)]);
  return {
    health,
    stop: async () => {
      health.drain();
      await temporal?.shutdown();
      await timed?.stop();
      domain.close();
    },
  };
}

/** Without an address none is guessed: the one next door may belong to another environment. */
async function joinTemporal(
  { config, log, metrics }: RoleOptions,
  domain: RpcChannel,
): Promise<TemporalWorker | undefined> {
  const polling = temporalPollingGauge(metrics);
  if (config.TEMPORAL_ADDRESS === undefined) {
    return undefined;
  }
  const codeMinutes = { list: codeMinutesOver(domain), log };
  return startTemporalWorker({
    address: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    ...temporalAccess(config),
    activities: createActivities({ maintenance: maintenanceOver(domain) }),
    schedules: {
      purge: { intervalMs: config.PURGE_INTERVAL, startAtOnce: true },
      signingKeyRotation: { intervalMs: advanceKeysEveryMs(config), startAtOnce: true },
    },
    companions: [(client, stop) => watchCodeMinutes(codeMinutes, client, stop)],
    log,
    shutdownGraceMs: config.SHUTDOWN_GRACE,
    onState: ({ status }) => polling.set(status === 'polling' ? 1 : 0),
  });
}

function startTimers({ config, log }: RoleOptions, domain: RpcChannel) {
  return startTimedMaintenance({
    maintenance: maintenanceOver(domain),
    purgeEveryMs: config.PURGE_INTERVAL,
    advanceKeysEveryMs: advanceKeysEveryMs(config),
    log,
  });
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
        return { ok: false, detail: 'TEMPORAL_ADDRESS is not set' };
      }
      const { status, reason, since } = temporal.state;
      const ok = status === 'polling' && reason === undefined;
      return { ok, detail: `${reason ?? status} (since ${since.toISOString()})` };
    },
  };
}
