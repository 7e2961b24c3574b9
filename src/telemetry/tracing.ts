import {
  type Attributes,
  type Context,
  context,
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { within } from './within.js';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;
const SCOPE = 'integration-service';
const LAST_SPANS_MS = 1_000;

interface SpanOptions {
  kind: keyof typeof KINDS;
  /** The span that it belongs to, as a W3C `traceparent`. Without one: the caller's in this process. */
  parent?: string;
  /** Names and ids of requests only: no secrets, no personal data. */
  attributes?: Attributes;
}

interface Tracing {
  tracer: Tracer;
  propagator: TextMapPropagator;
}

/** The tracing of this process; undefined unless `startTracing` found a collector. */
let tracing: Tracing | undefined;

/** Does the work in a span. Without tracing, does just the work. */
export function inSpan<T>(
  name: string,
  { kind, parent, attributes }: SpanOptions,
  work: (span?: Span) => Promise<T>,
): Promise<T> {
  if (!tracing) {
    return work();
  }
  const { tracer } = tracing;
  const options = { kind: KINDS[kind], attributes };
  return tracer.startActiveSpan(name, options, contextOf(tracing, parent), async (span) => {
    try {
      return await work(span);
    } catch (error) {
      const { code, name } = Object(error) as Partial<Error & { code: unknown }>;
      // Not the message: it may name a person.
      markFailed(span, typeof code === 'string' ? code : name);
      throw error;
    } finally {
      span.end();
    }
  });
}

/** For work that failed without throwing. */
export function markFailed(span: Span | undefined, type = 'unknown'): void {
  span?.setAttribute('error.type', type);
  span?.setStatus({ code: SpanStatusCode.ERROR });
}

/** Like `inSpan` within a trace. Without a trace, as for a probe or a poll, does just the work. */
export function inSpanOfTrace<T>(
  name: string,
  options: SpanOptions,
  work: (span?: Span) => Promise<T>,
): Promise<T> {
  return options.parent !== undefined || isTraced() ? inSpan(name, options, work) : work();
}

function isTraced(): boolean {
  return tracing !== undefined && trace.getActiveSpan() !== undefined;
}

/** The span of the caller, for another process. */
export function currentTraceparent(): string | undefined {
  if (!tracing || !isTraced()) {
    return undefined;
  }
  const carrier: { traceparent?: string } = {};
  tracing.propagator.inject(context.active(), carrier, defaultTextMapSetter);
  return carrier.traceparent;
}

/** For the log, so that a line leads to its trace. */
export function currentTraceId(): string | undefined {
  return tracing && trace.getActiveSpan()?.spanContext().traceId;
}

function contextOf({ propagator }: Tracing, parent: string | undefined): Context {
  return parent === undefined
    ? context.active()
    : propagator.extract(ROOT_CONTEXT, { traceparent: parent }, defaultTextMapGetter);
}

/** Whether the standard settings name a collector and do not switch tracing off. */
export function isTracingWanted(env: Readonly<Record<string, string | undefined>>): boolean {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isOff = env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none';
  return Boolean(endpoint) && !isOff;
}

/**
 * Sends spans to the collector that the standard settings of OpenTelemetry name. Without one, loads nothing.
 * The returned function sends the last spans and ends tracing.
 */
export async function startTracing(
  role: string,
  version: string,
  env: Readonly<Record<string, string | undefined>>,
  onFault: (reason: string) => void,
): Promise<() => Promise<void>> {
  if (!isTracingWanted(env)) {
    return async () => {};
  }
  const { openTraceExporter } = await import('./trace-exporter.js');
  const ignore = () => undefined;
  // First: the exporter warns of settings that it cannot read.
  diag.setLogger(
    { error: onFault, warn: onFault, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.WARN,
  );
  const { tracer, propagator, contextManager, shutdown } = openTraceExporter(SCOPE, version, {
    'integration.role': role,
  });
  context.setGlobalContextManager(contextManager);
  tracing = { tracer, propagator };
  return async () => {
    tracing = undefined;
    context.disable();
    // An unreachable collector must not fail or delay the end of the role.
    await within(LAST_SPANS_MS, shutdown().catch(ignore), ignore);
  };
}
