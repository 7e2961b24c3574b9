import { Registry } from 'prom-client';
import type { Readiness } from './health.js';
import { addNodeMetrics, counter, gauge, histogram } from './metric-list.js';
import { sharedReading } from './shared-reading.js';

const BLOCK_HEADER = /^# HELP [^\n]*\n# TYPE [^\n]*/;

export function createMetricsRegistry(role: string, version: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  addNodeMetrics(registry);
  gauge('integration_build_info', registry).set({ version }, 1);
  return registry;
}

export type HttpRequestTimer = (operation: string, status: number, durationMs: number, api: string) => void;

export function httpRequestTimer(registry: Registry): HttpRequestTimer {
  const durations = histogram('http_request_duration_seconds', registry);
  return (operation, status, durationMs, api) =>
    durations.observe({ api, operation, status }, durationMs / 1_000);
}

/** Called with 1 when a request begins and with -1 when it has ended. */
export type RequestCount = (api: string, change: 1 | -1) => void;

export function requestsInFlight(registry: Registry): RequestCount {
  const inFlight = gauge('http_requests_in_flight', registry);
  return (api, change) => inFlight.inc({ api }, change);
}

export type RpcCallTimer = (method: string, code: string, durationMs: number) => void;

export function rpcCallTimer(registry: Registry): RpcCallTimer {
  const durations = histogram('grpc_server_call_duration_seconds', registry);
  return (method, code, durationMs) => durations.observe({ method, code }, durationMs / 1_000);
}

/** Has no samples while the Temporal server does not report the backlog. */
export function temporalBacklogGauge(registry: Registry) {
  const backlog = gauge('temporal_task_queue_backlog', registry);
  return (counts: Record<string, number> | undefined) => {
    backlog.reset();
    for (const [type, count] of Object.entries(counts ?? {})) {
      backlog.set({ type }, count);
    }
  };
}

/** Read on each scrape: files change while the role runs. */
export function certificateGauges(
  registry: Registry,
  ends: () => readonly { certificate: string; notAfter: number; renewalDue: number }[],
): void {
  gauge('tls_certificate_not_after_seconds', registry, (made) => {
    for (const { certificate, notAfter } of ends()) {
      made.set({ certificate }, notAfter / 1_000);
    }
  });
  gauge('tls_certificate_renewal_due_seconds', registry, (made) => {
    for (const { certificate, renewalDue } of ends()) {
      made.set({ certificate }, renewalDue / 1_000);
    }
  });
}

/** Read on each scrape, which waits a second at most; a reading that fails counts as unready. */
export function readinessGauge(registry: Registry, read: () => Promise<Pick<Readiness, 'status'>>): void {
  const reading = sharedReading(read);
  gauge('integration_ready', registry, async (made) => {
    const { status } = (await reading()) ?? { status: 'unready' };
    made.set(status === 'unready' ? 0 : 1);
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
  gauge('domains_known', registry, (made) => {
    made.reset();
    for (const [right, members] of Object.entries(reports())) {
      for (const { state } of members.filter((member) => member.state !== 'unasked')) {
        made.inc({ right, state });
      }
    }
  });
}

/** Of a store: the other side is `StoreWatch`. */
export function storeMetrics(registry: Registry) {
  const recorded = counter('audit_records_total', registry);
  const writes = histogram('store_commit_writes', registry, [1, 2, 4, 8, 16, 32, 64, 128]);
  const syncs = histogram('store_sync_duration_seconds', registry);
  const durations = histogram('store_write_duration_seconds', registry);
  const refused = counter('store_writes_refused_total', registry);
  const waits = histogram('store_pool_wait_duration_seconds', registry);
  const listening = gauge('store_notifications_listening', registry);
  // No sample with SQLite, where nothing is reported.
  listening.remove();
  const notifications = counter('store_notifications_received_total', registry);
  const reads = counter('store_directory_reads_total', registry);
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

/** Of the threads that check passwords: the other side is `PasswordWatch`. */
export function passwordMetrics(registry: Registry) {
  const durations = histogram('password_job_duration_seconds', registry);
  const refused = counter('password_jobs_refused_total', registry);
  return {
    waiting: (count: () => number) =>
      void gauge('password_jobs_waiting', registry, (made) => made.set(count())),
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
