import { createServer, type Server } from 'node:http';
import type { Readiness } from './health.js';

interface ReadinessOfRoles {
  status: Readiness['status'];
  roles: Record<string, Readiness>;
}

/** The state of one role, or of all roles together. */
export interface OpsSource {
  /** Answers whenever the role runs. */
  liveness(): Promise<unknown>;
  readiness(): Promise<Readiness | ReadinessOfRoles>;
  /** The state of one role; undefined if there is no role with that name. */
  readinessOf?(role: string): Promise<Readiness | undefined>;
  metrics(): Promise<string>;
}

type ListenTarget = { host: string; port: number } | { path: string };

/** /livez, /readyz and /metrics, on a port or on a socket inside the data directory. */
export async function startOpsServer(source: OpsSource, target: ListenTarget): Promise<Server> {
  const server = createServer(async (request, response) => {
    try {
      const answer = await route(source, request.url ?? '/');
      response.writeHead(answer.status, { 'content-type': answer.type, 'cache-control': 'no-store' });
      response.end(answer.body);
    } catch {
      response.writeHead(500).end();
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(target, resolve);
  });
  return server;
}

async function route(
  source: OpsSource,
  url: string,
): Promise<{ status: number; type: string; body: string }> {
  const [path = '/'] = url.split('?');
  if (path === '/livez') {
    return json(200, await source.liveness());
  }
  const [isReadiness, role] = /^\/readyz(?:\/([a-z]+))?$/.exec(path) ?? [];
  const readiness = isReadiness && (await (role ? source.readinessOf?.(role) : source.readiness()));
  if (readiness) {
    return json(readiness.status === 'unready' ? 503 : 200, readiness);
  }
  if (path === '/metrics') {
    return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: await source.metrics() };
  }
  return json(404, { message: 'There are /livez, /readyz and /metrics.' });
}

function json(status: number, body: unknown) {
  return { status, type: 'application/json', body: `${JSON.stringify(body)}\n` };
}
