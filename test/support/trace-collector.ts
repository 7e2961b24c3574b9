import { createServer, type Server } from 'node:http';
import { eventually } from './eventually.js';
import { listenOnLoopback } from './loopback.js';

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  role: string;
  attributes: Record<string, unknown>;
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

interface Export {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: (Omit<CollectedSpan, 'role' | 'attributes'> & { attributes: Attribute[] })[] }[];
  }[];
}

/** Accepts spans in OTLP over HTTP, as JSON. */
export class TraceCollector {
  readonly spans: CollectedSpan[] = [];
  /** All request bodies, unchanged. */
  text = '';

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {
    server.on('request', (request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => {
        body += chunk;
      });
      request.once('end', () => {
        this.#take(body);
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
  }

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    const port = await listenOnLoopback(server);
    return new TraceCollector(server, `http://127.0.0.1:${port}`);
  }

  /** Waits for the first span that fits. */
  span(what: string, fits: (span: CollectedSpan) => boolean): Promise<CollectedSpan> {
    return eventually(`a span of ${what}`, () => this.spans.find(fits));
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  #take(body: string): void {
    this.text += body;
    for (const { resource, scopeSpans } of (JSON.parse(body) as Export).resourceSpans) {
      const role = String(valuesOf(resource.attributes)['integration.role']);
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        this.spans.push({ ...span, role, attributes: valuesOf(span.attributes) });
      }
    }
  }
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
