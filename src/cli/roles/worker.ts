import { readFileSync } from 'node:fs';
import { MaintenanceServiceService } from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import { createActivities } from '../../../workflows/activities/index.js';
import { startTemporalWorker, type TemporalWorker } from '../../../workflows/worker.js';
import type { Config } from '../../config/config.js';
import type { RpcChannel } from '../../rpc/client.js';
import { Health } from '../../telemetry/health.js';
import { temporalPollingGauge } from '../../telemetry/metrics.js';
import { withTlsFiles } from '../startup-error.js';
import { domainCheck, openDomainChannel } from './domain-channel.js';
import type { RoleOptions, RunningRole } from './role.js';

const PURGE_DEADLINE_MS = 20_000;

/** Works for Temporal whenever it is there; without it everything but scheduled work and retries goes on. */
export async function startWorker({ config, log, metrics }: RoleOptions): Promise<RunningRole> {
  const domain = openDomainChannel(config, 'worker');
  const polling = temporalPollingGauge(metrics);
  const temporal =
    config.TEMPORAL_ADDRESS === undefined
      ? undefined
      : await startTemporalWorker({
          address: config.TEMPORAL_ADDRESS,
          namespace: config.TEMPORAL_NAMESPACE,
          tls: withTlsFiles(['TEMPORAL_TLS_CA_FILE', 'TEMPORAL_TLS_CERT_FILE', 'TEMPORAL_TLS_KEY_FILE'], () =>
            temporalTls(config),
          ),
          activities: createActivities({ maintenance: maintenanceOver(domain) }),
          schedules: { purge: { intervalMs: config.PURGE_INTERVAL, startAtOnce: true } },
          log,
          shutdownGraceMs: config.SHUTDOWN_GRACE,
          onState: ({ status }) => polling.set(status === 'polling' ? 1 : 0),
        });
  const health = new Health([domainCheck(domain), temporalCheck(temporal)]);
  return {
    health,
    stop: async () => {
      health.drain();
      await temporal?.shutdown();
      domain.close();
    },
  };
}

function maintenanceOver(domain: RpcChannel) {
  const client = domain.clientOf(MaintenanceServiceService);
  return {
    purgeExpired: async (request: { limit: number }, { requestId }: { requestId: string }) => {
      const { counts, more } = await client.purgeExpired(request, {
        requestId,
        deadlineMs: PURGE_DEADLINE_MS,
      });
      const deleted = counts.map(({ kind, count }) => [kind.replace('PURGED_KIND_', ''), count]);
      return { deleted: Object.fromEntries(deleted) as Record<string, number>, more };
    },
  };
}

/** Without an address none is guessed: the one next door may belong to another environment. */
function temporalCheck(temporal: TemporalWorker | undefined) {
  return {
    name: 'temporal',
    required: false,
    probe: () => {
      if (!temporal) {
        return { ok: false, detail: 'TEMPORAL_ADDRESS is not set' };
      }
      const { status, reason, since } = temporal.state;
      return { ok: status === 'polling', detail: `${reason ?? status} (since ${since.toISOString()})` };
    },
  };
}

function temporalTls({ TEMPORAL_TLS_CA_FILE, TEMPORAL_TLS_CERT_FILE, TEMPORAL_TLS_KEY_FILE }: Config) {
  if (!TEMPORAL_TLS_CA_FILE && !TEMPORAL_TLS_CERT_FILE) {
    return undefined;
  }
  return {
    ...(TEMPORAL_TLS_CA_FILE && { serverRootCACertificate: readFileSync(TEMPORAL_TLS_CA_FILE) }),
    ...(TEMPORAL_TLS_CERT_FILE &&
      TEMPORAL_TLS_KEY_FILE && {
        clientCertPair: {
          crt: readFileSync(TEMPORAL_TLS_CERT_FILE),
          key: readFileSync(TEMPORAL_TLS_KEY_FILE),
        },
      }),
  };
}
