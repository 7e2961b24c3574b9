import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export const DURATION_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A metric, as the documentation for operators describes it. */
interface MetricDescription {
  name: string;
  type: string;
  help: string;
  /** Apart from `role`. */
  labels: string[];
  roles: string[];
  /** Whether it is a default metric of Node and its process, which every role has. */
  isDefault: boolean;
}

/** Returns a function that describes a metric of these roles. */
function of(...roles: string[]) {
  return <const Label extends string = never>(help: string, labels: readonly Label[] = []) => {
    return { roles, help, labels: [...labels] };
  };
}

const ROLES = ['edge', 'domain', 'worker'];
const all = of(...ROLES);
const callers = of('edge', 'worker');
const edge = of('edge');
const domain = of('domain');
const worker = of('worker');

// Labels hold names from the contracts, never ids, so that they are bounded.
const COUNTERS = {
  audit_records_total: domain(
    'Audit records, by type, outcome and, for refusals, reason: sign-ins, tokens issued, refused and reused, changes, reads of secrets.',
    ['type', 'outcome', 'reason'],
  ),
  // Such a failure is a redirect, which no status of HTTP or gRPC shows.
  authorization_faults_total: domain(
    'Authorization requests that the application was told have failed, for an error of the service.',
  ),
  http_requests_refused_total: edge(
    'HTTP requests refused because too many were under way: with 503, or with 408 while their body was awaited.',
  ),
  password_jobs_refused_total: domain('Passwords not checked, because too many were waiting.'),
  purge_rows_removed_total: domain('Rows removed because they were past their retention, by kind.', ['kind']),
  store_directory_reads_total: domain(
    'Reads of the gateway by the server of their rows, replica or primary, and the reason for the primary: lag or failure. Only with DATABASE_REPLICA_URL.',
    ['source', 'reason'],
  ),
  store_notifications_received_total: domain(
    'Notifications of due deliveries from other nodes. Only with PostgreSQL.',
  ),
  store_writes_refused_total: domain(
    'Writes that the disk refused because it is full, read-only or failing.',
  ),
  webhook_attempts_total: worker('Completed webhook delivery attempts, by event type and outcome.', [
    'event_type',
    'outcome',
  ]),
  webhook_deliveries_ended_total: domain(
    'Completed deliveries, by status: DELIVERED, or EXHAUSTED after the last attempt or when the service gives up. Each counts once: a late success of an exhausted one does not.',
    ['status'],
  ),
};

const GAUGES = {
  changes_held_back: domain(
    'Committed changes that readers of the sequence of changes do not get yet, because an earlier transaction is open; at most 10,000 are counted. Only with PostgreSQL.',
  ),
  changes_held_back_age_seconds: domain(
    'Age of the oldest of these changes, 0 if there is none. Only with PostgreSQL.',
  ),
  domains_known: callers(
    'Domains that a role may call, by the right of its token and state: serving, not-serving or unreachable. Only with several domains, or a DNS name, in DOMAIN_ADDRESS.',
    ['right', 'state'],
  ),
  http_requests_in_flight: edge('HTTP requests without a complete response, by API.', ['api']),
  integration_build_info: all('1, with the release of the service as a label.', ['version']),
  integration_ready: all(
    '1 while /readyz of this role answers 200, 0 while it answers 503. Under integration serve also 0 while the process of the role is down.',
  ),
  next_expiry_timestamp_seconds: domain(
    'When the next key, token or secret expires, or when the next failing webhook subscription is disabled, in seconds since 1970, by kind.',
    ['kind'],
  ),
  password_jobs_waiting: domain('Passwords that wait for a thread.'),
  purge_lag_seconds: domain(
    'For how long the oldest row that the purge can remove has been past its retention (0 if there is none), by kind.',
    ['kind'],
  ),
  signing_key_step_lag_seconds: domain(
    'For how long the next step of the signing keys has been due (0 if none is): to publish a successor, to record that it signs, or to retire a key.',
  ),
  store_database_bytes: domain('Size of the SQLite database file.'),
  store_free_bytes: domain('Part of the SQLite database file that is free for further rows.'),
  store_log_bytes: domain('Size of the write-ahead log of SQLite.'),
  store_notifications_listening: domain(
    'Whether other nodes can notify this one of due deliveries: 1 or 0, then it polls. Only with PostgreSQL.',
  ),
  temporal_configured: worker('1 if TEMPORAL_ADDRESS is set; temporal_worker_polling should then be 1.'),
  temporal_task_queue_backlog: worker(
    'Approximate number of tasks in the Temporal task queue of this service, by type.',
    ['type'],
  ),
  temporal_worker_polling: worker(
    '1 while this role polls Temporal and has its schedules; after refused polls, 0 until it has polled for 90 s.',
  ),
  tls_certificate_not_after_seconds: all(
    'When a certificate in use ends, in seconds since 1970: the one of this role, or of the authority that it trusts.',
    ['certificate'],
  ),
  tls_certificate_renewal_due_seconds: all(
    'When the last fifth of its lifetime begins, at most 30 days before its end, in seconds since 1970. It should be renewed earlier.',
    ['certificate'],
  ),
  webhook_attempts_running: worker('Webhook delivery attempts in progress.'),
  webhook_outbox_deliveries: domain(
    'Pending deliveries, by whether the first attempt has begun, counted up to 10,000.',
    ['attempt'],
  ),
  webhook_outbox_oldest_age_seconds: domain(
    'Age of the oldest pending delivery (0 if there is none), by whether its first attempt has begun and whether its subscription is failing. If the subscription changed later than the delivery was written, the age counts from that change.',
    ['attempt', 'subscription'],
  ),
  webhook_slots: worker('All slots for delivery attempts of this worker (WEBHOOK_SENDS).'),
  webhook_slots_in_use: worker(
    'Slots in use: delivery attempts in progress, and completed attempts whose result is not recorded yet.',
  ),
};

const HISTOGRAMS = {
  grpc_server_call_duration_seconds: domain('gRPC calls served, by method and status code.', [
    'method',
    'code',
  ]),
  http_request_duration_seconds: edge(
    'HTTP requests until the response begins, by API, operation of the contract and status. Status 499: the client disconnected before the response.',
    ['api', 'operation', 'status'],
  ),
  password_job_duration_seconds: domain('Checks and makings of password hashes, without their wait.'),
  store_commit_writes: domain('Writes that share a commit of SQLite.'),
  store_pool_wait_duration_seconds: domain('Time that callers waited for a PostgreSQL connection, by pool.', [
    'pool',
  ]),
  store_sync_duration_seconds: domain('Syncs of the log of SQLite to the disk.'),
  store_write_duration_seconds: domain(
    'Writes, from their call to their acknowledgement, by whether they were committed or undone.',
    ['outcome'],
  ),
  webhook_attempt_duration_seconds: worker(
    'Duration of webhook delivery attempts, from name resolution to the end of the response, by outcome.',
    ['outcome'],
  ),
  webhook_commit_to_receipt_seconds: worker(
    'Time from the write of a delivery, or from a later change of its subscription, to the response to its first attempt; excludes replays and attempts without a response.',
  ),
  webhook_relay_lag_seconds: worker(
    'Time from the write of a delivery, or from a later change of its subscription, to the start of its first attempt; excludes replays.',
  ),
};

const TABLES = { counter: COUNTERS, gauge: GAUGES, histogram: HISTOGRAMS };

type Tables = typeof TABLES;
type LabelOf<Type extends keyof Tables, Name extends keyof Tables[Type]> = Tables[Type][Name] extends {
  labels: (infer Label extends string)[];
}
  ? Label
  : never;

/** The options with which prom-client registers the metric. */
function optionsOf<Type extends keyof Tables, Name extends keyof Tables[Type] & string>(
  type: Type,
  name: Name,
  registry: Registry,
) {
  const { help, labels } = TABLES[type][name] as { help: string; labels: LabelOf<Type, Name>[] };
  return { name, help, labelNames: labels, registers: [registry] };
}

/** Registers the metric. `collect` runs at each scrape. */
export function counter<Name extends keyof Tables['counter']>(
  name: Name,
  registry: Registry,
  collect?: (made: Counter<LabelOf<'counter', Name>>) => void,
): Counter<LabelOf<'counter', Name>> {
  const made: Counter<LabelOf<'counter', Name>> = new Counter({
    ...optionsOf('counter', name, registry),
    ...(collect && { collect: () => collect(made) }),
  });
  return made;
}

/** Registers the metric. `collect` runs at each scrape. */
export function gauge<Name extends keyof Tables['gauge']>(
  name: Name,
  registry: Registry,
  collect?: (made: Gauge<LabelOf<'gauge', Name>>) => void | Promise<void>,
): Gauge<LabelOf<'gauge', Name>> {
  const made: Gauge<LabelOf<'gauge', Name>> = new Gauge({
    ...optionsOf('gauge', name, registry),
    ...(collect && { collect: () => collect(made) }),
  });
  return made;
}

export function histogram<Name extends keyof Tables['histogram']>(
  name: Name,
  registry: Registry,
  buckets = DURATION_BUCKETS_S,
): Histogram<LabelOf<'histogram', Name>> {
  return new Histogram({ ...optionsOf('histogram', name, registry), buckets });
}

export function addNodeMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const misnamed of ['handles', 'requests', 'resources']) {
    // These gauges are named like counters; the metrics without `_total` have the same numbers, by type.
    registry.removeSingleMetric(`nodejs_active_${misnamed}_total`);
  }
}

export function describeMetrics(): MetricDescription[] {
  const own = Object.entries(TABLES).flatMap(([type, table]) =>
    Object.entries(table).map(([name, described]) => ({ name, type, ...described, isDefault: false })),
  );
  const registry = new Registry();
  addNodeMetrics(registry);
  const ofNode = registry.getMetricsAsArray() as unknown as {
    name: string;
    type: string;
    help: string;
    labelNames: string[];
  }[];
  const defaults = ofNode.map(({ name, type, help, labelNames: labels }) => {
    return { name, type, help, labels, roles: ROLES, isDefault: true };
  });
  return [...own, ...defaults].sort((one, other) => one.name.localeCompare(other.name));
}
