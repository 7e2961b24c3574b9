import { request } from 'node:http';
import type { Readiness } from '../../telemetry/health.js';
import { mergeExpositions } from '../../telemetry/metrics.js';
import type { OpsSource } from '../../telemetry/ops-server.js';

const TIMEOUT_MS = 3_000;

interface Asked {
  role: string;
  opsSocket: string;
}

/** Health and metrics of all roles, asked for on each request. */
export function opsOfChildren(children: readonly Asked[]): OpsSource {
  const askAll = (path: string) => Promise.all(children.map((child) => ask(child, path)));
  return {
    liveness: async () => {
      const answers = await askAll('/livez');
      const alive = answers.every((answer) => answer.status === 200);
      const roles = Object.fromEntries(
        children.map(({ role }, index) => [role, parsed(answers[index]?.body)]),
      );
      return { alive, body: { status: alive ? 'alive' : 'a role is down', roles } };
    },
    readiness: async () => {
      const answers = await askAll('/readyz');
      const states = answers.map(({ body }) => parsed(body) as Readiness);
      const roles = Object.fromEntries(children.map(({ role }, index) => [role, states[index] as Readiness]));
      return { status: worst(states.map(({ status }) => status)), roles };
    },
    metrics: async () => {
      const answers = await askAll('/metrics');
      return mergeExpositions(answers.filter(({ status }) => status === 200).map(({ body }) => body));
    },
  };
}

function worst(statuses: Readiness['status'][]): Readiness['status'] {
  return statuses.includes('unready') ? 'unready' : statuses.includes('degraded') ? 'degraded' : 'ready';
}

const DOWN = JSON.stringify({
  status: 'unready',
  checks: { process: { ok: false, detail: 'does not answer' } },
});

function parsed(body = DOWN): unknown {
  return JSON.parse(body);
}

function ask({ opsSocket }: Asked, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    const down = () => resolve({ status: 503, body: DOWN });
    const question = request({ socketPath: opsSocket, path, timeout: TIMEOUT_MS }, async (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
      });
      response.once('error', down);
      response.once('end', () => resolve({ status: response.statusCode ?? 503, body }));
    });
    question.once('timeout', () => question.destroy());
    question.once('error', down);
    question.end();
  });
}
