import { expect, test } from '@jest/globals';
import {
  currentTraceId,
  currentTraceparent,
  inSpan,
  isTracingWanted,
  startTracing,
} from '../../src/telemetry/tracing.js';

const ENDPOINT = 'http://127.0.0.1:4318';

test.each([
  [{}, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT }, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${ENDPOINT}/v1/traces` }, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_SDK_DISABLED: 'false' }, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_TRACES_EXPORTER: 'otlp' }, true],
  [{ OTEL_SERVICE_NAME: 'integration' }, false],
])('the settings %j ask for traces: %s', (env, wanted) => {
  expect(isTracingWanted(env)).toBe(wanted);
});

test('without a collector, work is done without a span, and nothing is passed on', async () => {
  const stop = await startTracing('edge', '1.0.0', {}, () => undefined);
  const seen = await inSpan(
    'work',
    { kind: 'server', parent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
    async (span) => [span, currentTraceparent(), currentTraceId()],
  );
  expect(seen).toEqual([undefined, undefined, undefined]);
  await stop();
});
