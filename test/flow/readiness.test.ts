import { beforeAll, describe, expect, test } from '@jest/globals';
import { examined } from '../../src/cli/commands/doctor/doctor-action.js';
import { portsAreFree } from '../../src/cli/commands/doctor/port-checks.js';
import { describeMetrics } from '../../src/telemetry/metric-list.js';
import { eventually } from '../support/eventually.js';
import { parseExposition } from '../support/prometheus-text.js';
import { roleTokens } from '../support/role-tokens.js';
import { processesWith, type ServiceProcess, serviceProcesses } from '../support/service-process.js';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { readList } from './reading.js';

/** Dashboards and alerts are written for these names. */
const NAMES = [
  'audit_records_total',
  'authorization_faults_total',
  'changes_held_back',
  'changes_held_back_age_seconds',
  'domains_known',
  'grpc_server_call_duration_seconds',
  'http_request_duration_seconds',
  'http_requests_in_flight',
  'http_requests_refused_total',
  'integration_build_info',
  'integration_ready',
  'next_expiry_timestamp_seconds',
  'password_job_duration_seconds',
  'password_jobs_refused_total',
  'password_jobs_waiting',
  'purge_lag_seconds',
  'purge_rows_removed_total',
  'signing_key_step_lag_seconds',
  'store_commit_writes',
  'store_database_bytes',
  'store_directory_reads_total',
  'store_free_bytes',
  'store_log_bytes',
  'store_notifications_listening',
  'store_notifications_received_total',
  'store_pool_wait_duration_seconds',
  'store_sync_duration_seconds',
  'store_write_duration_seconds',
  'store_writes_refused_total',
  'temporal_configured',
  'temporal_task_queue_backlog',
  'temporal_worker_polling',
  'tls_certificate_not_after_seconds',
  'tls_certificate_renewal_due_seconds',
  'webhook_attempt_duration_seconds',
  'webhook_attempts_running',
  'webhook_attempts_total',
  'webhook_commit_to_receipt_seconds',
  'webhook_deliveries_ended_total',
  'webhook_outbox_deliveries',
  'webhook_outbox_oldest_age_seconds',
  'webhook_relay_lag_seconds',
  'webhook_slots',
  'webhook_slots_in_use',
];

const services = serviceProcesses();
const newDirectory = temporaryDirectories();

describe('health and metrics of all roles together', () => {
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await services.start();
  });

  test('without Temporal the service is degraded, and so ready', async () => {
    expect(await service.readiness()).toMatchObject({
      status: 'degraded',
      roles: {
        domain: {
          status: 'ready',
          checks: {
            database: { ok: true },
            schema: { ok: true },
            version: { ok: true },
            'encryption-key': { ok: true },
          },
        },
        edge: { status: 'ready', checks: { domain: { ok: true } } },
        worker: { status: 'degraded', checks: { domain: { ok: true }, temporal: { ok: false } } },
      },
    });
  });

  test('each role says that it is alive', async () => {
    const response = await eventually('every role alive', async () => {
      const one = await fetch(`${service.opsUrl}/livez`);
      return one.status === 200 && one;
    });
    const { roles } = (await response.json()) as { roles: object };
    expect(Object.keys(roles).sort()).toEqual(['domain', 'edge', 'worker']);
  });

  test('the doctor counts the ports as ours, and for another data directory as those of another environment', async () => {
    expect(await examined(service.settings, [portsAreFree])).toMatchObject([
      { status: 'ok', detail: 'The service listens on 5.' },
    ]);
    const [found] = await examined({ ...service.settings, DATA_DIR: newDirectory() }, [portsAreFree]);
    const { SIGN_ON_PORT, GATEWAY_PORT, METRICS_PORT, GRPC_PORT, DEMO_APP_PORT } = service.settings;
    expect(found).toMatchObject({
      status: 'error',
      examples: [
        `127.0.0.1:${SIGN_ON_PORT} (SIGN_ON_PORT) is taken by another environment of this service`,
        `127.0.0.1:${GATEWAY_PORT} (GATEWAY_PORT) is taken by another environment of this service`,
        expect.stringContaining(`127.0.0.1:${METRICS_PORT} (METRICS_PORT) is taken by another environment`),
        `127.0.0.1:${GRPC_PORT} (GRPC_PORT) is taken by another process`,
        `127.0.0.1:${DEMO_APP_PORT} (DEMO_APP_PORT) is taken by another environment of this service`,
      ],
    });
  });

  test('requests are counted under their operation, and calls under their method', async () => {
    await readList(service, service.demo().apiKeys[0]?.key ?? '');
    const metrics = await metricsOf(service);
    expect(metrics).toMatch(
      /^http_request_duration_seconds_count\{role="edge",api="gateway",operation="listInstanceIntegrations",status="200"\} [1-9]/m,
    );
    expect(metrics).toMatch(
      /^grpc_server_call_duration_seconds_count\{role="domain",method="integration\.directory\.v1\.DirectoryService\/Read\/listInstanceIntegrations",code="OK"\} [1-9]/m,
    );
    expect(metrics).toMatch(/^temporal_worker_polling\{role="worker"\} 0$/m);
    expect(metrics).toMatch(/^temporal_configured\{role="worker"\} 1$/m);
    expect(metrics).toMatch(/^http_requests_in_flight\{api="gateway",role="edge"\} 0$/m);
    expect(metrics.match(/^# TYPE process_cpu_user_seconds_total /gm)).toHaveLength(1);
  });

  test('the names of all metrics stay as dashboards know them, beside those of Node and its process', async () => {
    const families = parseExposition(await metricsOf(service));
    expect([...families.keys()].filter((name) => !/^(?:nodejs|process)_/.test(name)).sort()).toEqual(NAMES);
    expect(families.get('integration_build_info')?.samples).toHaveLength(3);
    expect([...families.keys()].sort()).toEqual(
      describeMetrics()
        .map(({ name }) => name)
        .sort(),
    );
    for (const moved of [
      'store_write_duration_seconds',
      'store_commit_writes',
      'store_sync_duration_seconds',
    ]) {
      expect(families.get(moved)?.samples.some((sample) => /_count\{.*\} [1-9]/.test(sample))).toBe(true);
    }
    expect(families.get('store_database_bytes')?.samples).toEqual([expect.stringMatching(/ [1-9]\d{4,}$/)]);
    expect(families.get('purge_lag_seconds')?.samples).toHaveLength(22);
    expect(families.get('signing_key_step_lag_seconds')?.samples).toEqual([
      'signing_key_step_lag_seconds{role="domain"} 0',
    ]);
    expect(families.get('password_jobs_waiting')?.samples).toEqual([
      'password_jobs_waiting{role="domain"} 0',
    ]);
  });

  test('each role has a small young generation', () => {
    expect(processesWith('--max-semi-space-size=16')).toEqual(expect.arrayContaining(service.rolePids()));
  });

  test('while a role hangs the service is unready, and once it continues it is ready again', async () => {
    process.kill(service.pidOf('domain'), 'SIGSTOP');
    const [response, metrics] = await Promise.all([fetch(`${service.opsUrl}/readyz`), scrape(service)]);
    process.kill(service.pidOf('domain'), 'SIGCONT');
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      status: 'unready',
      roles: { edge: { status: 'unready' } },
    });
    expect(metrics).toMatch(/^integration_ready\{role="domain"\} 0$/m);
    await service.readiness();
    await eventually('metrics that say so', async () => {
      return (await scrape(service)).match(/^integration_ready\{.*\} 1$/gm)?.length === 3;
    });
  });
});

async function scrape({ opsUrl }: ServiceProcess): Promise<string> {
  return (await fetch(`${opsUrl}/metrics`)).text();
}

/** A busy machine may leave out a role, or a reading of the database, that comes late. */
function metricsOf(service: ServiceProcess): Promise<string> {
  const samples = [
    /^process_start_time_seconds\{role="edge"/m,
    /^process_start_time_seconds\{role="worker"/m,
    /^store_database_bytes\{/m,
    /^purge_lag_seconds\{/m,
    /^signing_key_step_lag_seconds\{/m,
  ];
  return eventually('metrics of every role', async () => {
    const metrics = await scrape(service);
    return samples.every((sample) => sample.test(metrics)) && metrics;
  });
}

test('an edge without its domain is alive, unready on its own port, answers 503, and drains when it is asked to end', async () => {
  const edge = await services.start({
    command: 'edge',
    env: { ...roleTokens, DRAIN_DELAY: '10m' },
  });
  const readiness = await fetch(`${edge.opsUrl}/readyz`);
  expect(readiness.status).toBe(503);
  expect(await readiness.json()).toMatchObject({ status: 'unready', checks: { domain: { ok: false } } });
  expect((await fetch(`${edge.opsUrl}/livez`)).status).toBe(200);

  const domain = await services.start({
    command: 'domain',
    dataDir: edge.dataDir,
    env: roleTokens,
  });
  const [apiKey] = domain.demo().apiKeys;
  await edge.readiness();
  expect((await readList(edge, apiKey?.key ?? '')).status).toBe(200);
  await domain.stop();
  const response = await readList(edge, apiKey?.key ?? '');
  expect([response.status, response.headers.get('content-type')]).toEqual([503, 'application/problem+json']);
  expect(await (await fetch(`${edge.opsUrl}/metrics`)).text()).toMatch(
    /^http_request_duration_seconds_count\{role="edge",api="gateway",operation="listInstanceIntegrations",status="503"\} 1$/m,
  );

  edge.signal('SIGTERM');
  await eventually('the edge draining', async () =>
    (await (await fetch(`${edge.opsUrl}/readyz`)).text()).includes('draining'),
  );
  expect((await readList(edge, apiKey?.key ?? '')).status).toBe(503);
  edge.signal('SIGTERM');
  expect(await edge.exited).toEqual({ code: 0, signal: null });
});
