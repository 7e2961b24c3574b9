import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Readiness } from './health.js';
import { sharedReading } from './shared-reading.js';

export const DURATION_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BLOCK_HEADER = /^# HELP [^\n]*\n# TYPE [^\n]*/;

/** The metrics of one role. Labels hold names from the contracts, never ids, so that they are bounded. */
export function createMetricsRegistry(role: string, version: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry });
  for (const misnamed of ['handles', 'requests', 'resources']) {
    // These gauges are named like counters; the metrics without `_total` have the same numbers, by type.
    registry.removeSingleMetric(`nodejs_active_${misnamed}_total`);
  }
  new Gauge({
    name: 'integration_build_info',
    help: '1, with the release of the service as a label.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1);
  return registry;
}

export type HttpRequestTimer = (operation: string, status: number, durationMs: number, api: string) => void;

export function httpRequestTimer(registry: Registry): HttpRequestTimer {
  const histogram = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'HTTP requests by API, operation of the contract and status. Status 499: the client disconnected before the response.',
    labelNames: ['api', 'operation', 'status'],
    buckets: DURATION_BUCKETS_S,
    registers: [registry],
  });
  return (operation, status, durationMs, api) =>
    histogram.observe({ api, operation, status }, durationMs / 1_000);
}

/** Called with 1 when a request begins and with -1 when it has ended. */
export type RequestCount = (api: string, change: 1 | -1) => void;

export function requestsInFlight(registry: Registry): RequestCount {
  const gauge = new Gauge({
    name: 'http_requests_in_flight',
    help: 'HTTP requests without a complete response, by API.',
    labelNames: ['api'],
    registers: [registry],
  });
  return (api, change) => gauge.inc({ api }, change);
}

/** Called for each request that is refused because too many others are under way. */
export function refusalCounter(registry: Registry): () => void {
  const counter = new Counter({
    name: 'http_requests_refused_total',
    help: 'HTTP requests refused with 503 because too many others were under way.',
    registers: [registry],
  });
  return () => counter.inc();
}

export type RpcCallTimer = (method: string, code: string, durationMs: number) => void;

export function rpcCallTimer(registry: Registry): RpcCallTimer {
  const histogram = new Histogram({
    name: 'grpc_server_call_duration_seconds',
    help: 'gRPC calls served, by method and status code.',
    labelNames: ['method', 'code'],
    buckets: DURATION_BUCKETS_S,
    registers: [registry],
  });
  return (method, code, durationMs) => histogram.observe({ method, code }, durationMs / 1_000);
}

export function temporalPollingGauge(registry: Registry): Gauge {
  return new Gauge({
    name: 'temporal_worker_polling',
    help: '1 while this role polls Temporal and has its schedules; after refused polls, 0 until it has polled for 90 s.',
    registers: [registry],
  });
}

export function temporalConfiguredGauge(registry: Registry): Gauge {
  return new Gauge({
    name: 'temporal_configured',
    help: '1 if TEMPORAL_ADDRESS is set; temporal_worker_polling should then be 1.',
    registers: [registry],
  });
}

/** Has no samples while the Temporal server does not report the backlog. */
export function temporalBacklogGauge(registry: Registry) {
  const gauge = new Gauge({
    name: 'temporal_task_queue_backlog',
    help: 'Approximate number of tasks in the Temporal task queue of this service, by type.',
    labelNames: ['type'],
    registers: [registry],
  });
  return (counts: Record<string, number> | undefined) => {
    gauge.reset();
    for (const [type, count] of Object.entries(counts ?? {})) {
      gauge.set({ type }, count);
    }
  };
}

/** Read on each scrape: files change while the role runs. */
export function certificateGauges(
  registry: Registry,
  ends: () => readonly { certificate: string; notAfter: number; renewalDue: number }[],
): void {
  const gauge = (name: string, help: string, time: 'notAfter' | 'renewalDue') =>
    new Gauge({
      ...{ name, help, labelNames: ['certificate'], registers: [registry] },
      collect() {
        for (const end of ends()) {
          this.set({ certificate: end.certificate }, end[time] / 1_000);
        }
      },
    });
  gauge(
    'tls_certificate_not_after_seconds',
    'When a certificate in use ends, in seconds since 1970: the one of this role, or of the authority that it trusts.',
    'notAfter',
  );
  gauge(
    'tls_certificate_renewal_due_seconds',
    'When the last fifth of its lifetime begins, at most 30 days before its end, in seconds since 1970. It should be renewed earlier.',
    'renewalDue',
  );
}

/** Read on each scrape, which waits a second at most; a reading that fails counts as unready. */
export function readinessGauge(registry: Registry, read: () => Promise<Pick<Readiness, 'status'>>): void {
  const reading = sharedReading(read);
  new Gauge({
    name: 'integration_ready',
    help: '1 while /readyz of this role answers 200, 0 while it answers 503. Under integration serve also 0 while the process of the role is down.',
    registers: [registry],
    async collect() {
      const { status } = (await reading()) ?? { status: 'unready' };
      this.set(status === 'unready' ? 0 : 1);
    },
  });
}

/** In place of the metrics of a role that does not answer. */
export function expositionOfUnready(role: string): Promise<string> {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  readinessGauge(registry, async () => ({ status: 'unready' }));
  return registry.metrics();
}

/** Where a role has several domains, or a name. Read on each scrape. */
export function domainsGauge(
  registry: Registry,
  reports: () => Readonly<Record<string, readonly { state: string }[]>>,
): void {
  new Gauge({
    name: 'domains_known',
    help: 'Domains that a role may call, by the right of its token and state: serving, not-serving or unreachable. Only with several domains, or a DNS name, in DOMAIN_ADDRESS.',
    labelNames: ['right', 'state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [right, members] of Object.entries(reports())) {
        for (const { state } of members.filter((member) => member.state !== 'unasked')) {
          this.inc({ right, state });
        }
      }
    },
  });
}

/** Of a store: the other side is `StoreWatch`. */
export function storeMetrics(registry: Registry) {
  const registers = [registry];
  const recorded = new Counter({
    name: 'audit_records_total',
    help: 'Audit records, by type, outcome and, for refusals, reason: sign-ins, tokens issued, refused and reused, changes, reads of secrets.',
    labelNames: ['type', 'outcome', 'reason'],
    registers,
  });
  const writes = new Histogram({
    name: 'store_commit_writes',
    help: 'Writes that share a commit of SQLite.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers,
  });
  const syncs = new Histogram({
    name: 'store_sync_duration_seconds',
    help: 'Syncs of the log of SQLite to the disk.',
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const durations = new Histogram({
    name: 'store_write_duration_seconds',
    help: 'Writes, from their call to their acknowledgement, by whether they were committed or undone.',
    labelNames: ['outcome'],
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const refused = new Counter({
    name: 'store_writes_refused_total',
    help: 'Writes that the disk refused because it is full, read-only or failing.',
    registers,
  });
  const waits = new Histogram({
    name: 'store_pool_wait_duration_seconds',
    help: 'Time that callers waited for a PostgreSQL connection, by pool.',
    labelNames: ['pool'],
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const listening = new Gauge({
    name: 'store_notifications_listening',
    help: 'Whether other nodes can notify this one of due deliveries: 1 or 0, then it polls. Only with PostgreSQL.',
    registers,
  });
  // No sample with SQLite, where nothing is reported.
  listening.remove();
  const notifications = new Counter({
    name: 'store_notifications_received_total',
    help: 'Notifications of due deliveries from other nodes. Only with PostgreSQL.',
    registers,
  });
  const reads = new Counter({
    name: 'store_directory_reads_total',
    help: 'Reads of the gateway by the server of their rows, replica or primary, and the reason for the primary: lag or failure. Only with DATABASE_REPLICA_URL.',
    labelNames: ['source', 'reason'],
    registers,
  });
  return {
    recorded: (type: string, outcome: string, times: number, reason?: string) =>
      recorded.inc(reason === undefined ? { type, outcome } : { type, outcome, reason }, times),
    committed: (count: number) => writes.observe(count),
    synced: (durationMs: number) => syncs.observe(durationMs / 1_000),
    wrote: (outcome: 'committed' | 'undone', durationMs: number) =>
      durations.observe({ outcome }, durationMs / 1_000),
    refused: () => refused.inc(),
    lent: (pool: string, durationMs: number) => waits.observe({ pool }, durationMs / 1_000),
    listens: (now: boolean) => listening.set(now ? 1 : 0),
    notified: () => notifications.inc(),
    readFrom: (source: 'replica' | 'primary', reason: string) => reads.inc({ source, reason }),
  };
}

/** Such a failure is a redirect, which no status of HTTP or gRPC shows. */
export function authorizationFaultCounter(registry: Registry): () => void {
  const counter = new Counter({
    name: 'authorization_faults_total',
    help: 'Authorization requests that the application was told have failed, for an error of the service.',
    registers: [registry],
  });
  return () => counter.inc();
}

/** Of the threads that check passwords: the other side is `PasswordWatch`. */
export function passwordMetrics(registry: Registry) {
  const registers = [registry];
  const durations = new Histogram({
    name: 'password_job_duration_seconds',
    help: 'Checks and makings of password hashes, without their wait.',
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const refused = new Counter({
    name: 'password_jobs_refused_total',
    help: 'Passwords not checked, because too many were waiting.',
    registers,
  });
  return {
    waiting: (count: () => number) => {
      new Gauge({
        name: 'password_jobs_waiting',
        help: 'Passwords that wait for a thread.',
        registers,
        collect() {
          this.set(count());
        },
      });
    },
    worked: (durationMs: number) => durations.observe(durationMs / 1_000),
    refused: () => refused.inc(),
  };
}

/** Merges expositions: the samples of a metric stand together under one header, as Prometheus requires. */
export function mergeExpositions(expositions: readonly string[]): string {
  const blocks = new Map<string, string[]>();
  for (const block of expositions.flatMap((text) => text.trim().split('\n\n'))) {
    const header = BLOCK_HEADER.exec(block)?.[0] ?? '';
    const samples = block.slice(header.length).trim();
    blocks.set(header, [...(blocks.get(header) ?? []), ...(samples ? [samples] : [])]);
  }
  return `${[...blocks].map(([header, samples]) => [header, ...samples].join('\n')).join('\n\n')}\n`;
}
