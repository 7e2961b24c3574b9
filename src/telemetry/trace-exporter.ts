import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, hostDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

/** The parts of OpenTelemetry. They read the OTEL_* settings. Loaded only if these name a collector. */
export function openTraceExporter(name: string, version: string, attributes: Record<string, string>) {
  const own = resourceFromAttributes({ 'service.name': name, 'service.version': version, ...attributes });
  const provider = new BasicTracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector, hostDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  return {
    tracer: provider.getTracer(name, version),
    propagator: new W3CTraceContextPropagator(),
    contextManager: new AsyncLocalStorageContextManager().enable(),
    shutdown: () => provider.shutdown(),
  };
}
