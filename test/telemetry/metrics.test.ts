import { describe, expect, test } from '@jest/globals';
import { Counter } from 'prom-client';
import { gauge } from '../../src/telemetry/metric-list.js';
import {
  certificateGauges,
  createMetricsRegistry,
  httpRequestTimer,
  mergeExpositions,
  passwordMetrics,
  readinessGauge,
  requestsInFlight,
  rpcCallTimer,
  storeMetrics,
  temporalBacklogGauge,
} from '../../src/telemetry/metrics.js';
import { parseExposition } from '../support/prometheus-text.js';

const HEADER = '# HELP jobs Jobs.\n# TYPE jobs counter\n';

describe('the metrics of a role', () => {
  test('count requests by operation and status, in seconds', async () => {
    const registry = createMetricsRegistry('edge', '1.2.3');
    const timer = httpRequestTimer(registry);
    timer('listClients', 200, 30, 'gateway');
    timer('listClients', 200, 1_500, 'gateway');
    timer('none', 404, 0.2, 'sign-on');
    const samples = parseExposition(await registry.metrics()).get('http_request_duration_seconds')?.samples;
    const labels = 'role="edge",api="gateway",operation="listClients",status="200"';
    expect(samples).toContain(`http_request_duration_seconds_count{${labels}} 2`);
    expect(samples).toContain(`http_request_duration_seconds_sum{${labels}} 1.53`);
    expect(samples).toContain(`http_request_duration_seconds_bucket{le="0.05",${labels}} 1`);
  });

  test('say how many requests are in flight', async () => {
    const registry = createMetricsRegistry('edge', '1.2.3');
    const count = requestsInFlight(registry);
    count('gateway', 1);
    count('gateway', 1);
    count('sign-on', 1);
    count('gateway', -1);
    const text = await registry.metrics();
    expect(text).toContain('http_requests_in_flight{api="gateway",role="edge"} 1');
    expect(text).toContain('http_requests_in_flight{api="sign-on",role="edge"} 1');
  });

  test('say what waits at Temporal as long as it is known', async () => {
    const registry = createMetricsRegistry('worker', '1.2.3');
    const onBacklog = temporalBacklogGauge(registry);
    onBacklog({ workflow: 0, activity: 7 });
    expect(await registry.metrics()).toContain(
      'temporal_task_queue_backlog{type="activity",role="worker"} 7',
    );
    onBacklog(undefined);
    expect(await registry.metrics()).not.toMatch(/^temporal_task_queue_backlog\{/m);
  });

  test('measure waits for a connection by its pool', async () => {
    const registry = createMetricsRegistry('domain', '1.2.3');
    storeMetrics(registry).lent('writes', 30);
    expect(await registry.metrics()).toContain(
      'store_pool_wait_duration_seconds_sum{role="domain",pool="writes"} 0.03',
    );
  });

  test('have no gauge with the ending of a counter', async () => {
    const families = parseExposition(await createMetricsRegistry('edge', '1.2.3').metrics());
    const gauges = [...families.values()].filter(({ type }) => type === 'gauge').map(({ name }) => name);
    expect(gauges).toContain('nodejs_eventloop_lag_p99_seconds');
    expect(gauges.filter((name) => name.endsWith('_total'))).toEqual([]);
  });

  test('count calls by method and code, and say whether the worker polls', async () => {
    const registry = createMetricsRegistry('domain', '1.2.3');
    rpcCallTimer(registry)('a.B/C', 'OK', 1);
    gauge('temporal_worker_polling', registry).set(1);
    const text = await registry.metrics();
    expect(text).toContain(
      'grpc_server_call_duration_seconds_count{role="domain",method="a.B/C",code="OK"} 1',
    );
    expect(text).toContain('temporal_worker_polling{role="domain"} 1');
  });

  test('name the release', async () => {
    const text = await createMetricsRegistry('edge', '1.2.3').metrics();
    expect(text).toContain('integration_build_info{version="1.2.3",role="edge"} 1');
  });

  test('count acts on record, writes by their end, writes that share a commit, and syncs', async () => {
    const registry = createMetricsRegistry('domain', '1.2.3');
    const watch = storeMetrics(registry);
    watch.recorded('api_key.refused', 'refused', 3);
    watch.recorded('api_key.refused', 'refused', 1);
    watch.recorded('api_key.refused', 'refused', 2, 'expired');
    watch.wrote('committed', 20);
    watch.wrote('undone', 3);
    watch.committed(5);
    watch.synced(2);
    const text = await registry.metrics();
    for (const sample of [
      'audit_records_total{type="api_key.refused",outcome="refused",role="domain"} 4',
      'audit_records_total{type="api_key.refused",outcome="refused",reason="expired",role="domain"} 2',
      'store_write_duration_seconds_sum{role="domain",outcome="committed"} 0.02',
      'store_write_duration_seconds_count{role="domain",outcome="undone"} 1',
      'store_commit_writes_bucket{le="4",role="domain"} 0',
      'store_commit_writes_bucket{le="8",role="domain"} 1',
      'store_sync_duration_seconds_sum{role="domain"} 0.002',
    ]) {
      expect(text).toContain(sample);
    }
  });

  test('say how many passwords wait at the time of the scrape, and how long one takes', async () => {
    const registry = createMetricsRegistry('domain', '1.2.3');
    const watch = passwordMetrics(registry);
    let waiting = 2;
    watch.waiting(() => waiting);
    watch.worked(50);
    watch.refused();
    await registry.metrics();
    waiting = 7;
    const text = await registry.metrics();
    expect(text).toContain('password_jobs_waiting{role="domain"} 7');
    expect(text).toContain('password_jobs_refused_total{role="domain"} 1');
    expect(text).toContain('password_job_duration_seconds_sum{role="domain"} 0.05');
  });

  test('say when the present certificates expire, and when their renewal is due, at the time of the scrape', async () => {
    const registry = createMetricsRegistry('edge', '1.2.3');
    let notAfter = 1_800_000_000_000;
    certificateGauges(registry, () => [{ certificate: 'own', notAfter, renewalDue: notAfter - 60_000 }]);
    await registry.metrics();
    notAfter += 1_000;
    const text = await registry.metrics();
    expect(text).toContain('tls_certificate_not_after_seconds{certificate="own",role="edge"} 1800000001');
    expect(text).toContain('tls_certificate_renewal_due_seconds{certificate="own",role="edge"} 1799999941');
  });
});

describe('the readiness of a role in its metrics', () => {
  const said = async (read: () => Promise<{ status: 'ready' | 'degraded' | 'unready' }>) => {
    const registry = createMetricsRegistry('edge', '1.2.3');
    readinessGauge(registry, read);
    return /^integration_ready\{role="edge"\} (\d)$/m.exec(await registry.metrics())?.[1];
  };

  test.each([
    ['ready', '1'],
    ['degraded', '1'],
    ['unready', '0'],
  ] as const)('is that of /readyz: %s', async (status, value) => {
    expect(await said(async () => ({ status }))).toBe(value);
  });

  test('is 0 if a check fails or hangs, and neither keeps the other metrics away', async () => {
    expect(await said(() => Promise.reject(new Error('broken')))).toBe('0');
    expect(await said(() => new Promise(() => undefined))).toBe('0');
  });
});

describe('several expositions merged', () => {
  test('are valid, have every sample of each and one header per metric', async () => {
    const roles = ['edge', 'domain', 'worker'].map((role) => createMetricsRegistry(role, '1.2.3'));
    // Metrics with labels have no sample before the first event: only a header, in some roles.
    const timers = roles.map(httpRequestTimer);
    timers[1]?.('listClients', 200, 3, 'gateway');
    roles.forEach(rpcCallTimer);
    const texts = await Promise.all(roles.map((registry) => registry.metrics()));
    const merged = parseExposition(mergeExpositions(texts));
    const parts = texts.map(parseExposition);
    for (const [name, { samples }] of merged) {
      const each = parts.flatMap((part) => part.get(name)?.samples ?? []);
      expect([name, [...samples].sort()]).toEqual([name, each.sort()]);
    }
    expect([...merged.keys()].sort()).toEqual([...new Set(parts.flatMap((part) => [...part.keys()]))].sort());
    expect(merged.get('http_request_duration_seconds')?.samples.length).toBeGreaterThan(3);
  });

  test.each([
    ['a header without samples comes first', [HEADER, `${HEADER}jobs{role="b"} 1\n`]],
    ['a header without samples comes last', [`${HEADER}jobs{role="b"} 1\n`, HEADER]],
    ['a role says nothing', ['', `${HEADER}jobs{role="b"} 1\n`, '\n']],
  ])('stay valid when %s', (_, texts) => {
    const merged = mergeExpositions(texts);
    expect(parseExposition(merged).get('jobs')?.samples).toEqual(['jobs{role="b"} 1']);
    expect(merged.match(/# TYPE jobs/g)).toHaveLength(1);
  });

  test('keep labels and help texts that hold line breaks and quotes', async () => {
    const texts = await Promise.all(
      ['a', 'b'].map(async (role) => {
        const registry = createMetricsRegistry(role, '1.2.3');
        const counter = new Counter({
          name: 'odd',
          help: 'Odd.\n\n# TYPE odd gauge',
          labelNames: ['what'],
          registers: [registry],
        });
        counter.inc({ what: 'a"b\n\nc\\d' });
        return registry.metrics();
      }),
    );
    expect(parseExposition(mergeExpositions(texts)).get('odd')?.samples).toHaveLength(2);
  });

  test('of no roles are empty', () => {
    expect(mergeExpositions([]).trim()).toBe('');
  });

  test('are judged by a reader that refuses what Prometheus refuses', () => {
    expect(() => parseExposition(`${HEADER}jobs 1\n${HEADER}jobs{role="b"} 1\n`)).toThrow('twice');
    expect(() => parseExposition(`${HEADER}jobs 1\njobs 1\n`)).toThrow('twice');
    expect(() => parseExposition(`${HEADER}jobs one\n`)).toThrow('not a sample');
    expect(() => parseExposition(`${HEADER}work 1\n`)).toThrow('not a sample');
    expect(() => parseExposition(`${HEADER}jobs 1`)).toThrow('does not end');
  });
});
