import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Readiness } from '../../telemetry/health.js';
import { expositionOfUnready, mergeExpositions } from '../../telemetry/metrics.js';
import type { OpsSource } from '../../telemetry/ops-server.js';
import type { Presence } from '../ports.js';
import type { RoleName } from '../roles/role.js';

const TIMEOUT_MS = 3_000;

interface Asked {
  role: string;
  opsSocket: string;
}

interface Told {
  status: number;
  body: string;
  /** There was no answer in time; other failures do not show that the process is frozen. */
  isSilent: boolean;
}

/** Without these the node cannot answer requests; without the worker, webhooks wait. */
const REQUIRED: readonly string[] = ['edge', 'domain'] satisfies RoleName[];

/** Health and metrics of all roles, asked for on each request. `presence` is that of this process. */
export function opsOfChildren(children: readonly Asked[], presence: Presence): OpsSource {
  const askAll = (path: string) =>
    Promise.all(children.map(async (child) => ({ role: child.role, ...(await ask(child, path)) })));
  return {
    // This process restarts roles that are down: killing this process would not help.
    liveness: async () => {
      const answers = await askAll('/livez');
      const alive = answers.every(({ status }) => status === 200);
      const roles = Object.fromEntries(answers.map(({ role, body }) => [role, JSON.parse(body)]));
      return { status: alive ? 'alive' : 'a role is down', ...presence, roles };
    },
    readiness: async () => {
      const answers = await askAll('/readyz');
      const states = answers.map(({ role, body }): [string, Readiness] => [role, JSON.parse(body)]);
      return { status: together(states), roles: Object.fromEntries(states) };
    },
    readinessOf: async (role) => {
      const child = children.find((one) => one.role === role);
      return child && JSON.parse((await ask(child, '/readyz')).body);
    },
    metrics: async () => {
      const answers = await askAll('/metrics');
      const expositions = answers.map(({ role, status, body }) =>
        status === 200 ? body : expositionOfUnready(role),
      );
      return mergeExpositions(await Promise.all(expositions));
    },
  };
}

function together(states: readonly [role: string, readiness: Readiness][]): Readiness['status'] {
  if (states.some(([role, { status }]) => status === 'unready' && REQUIRED.includes(role))) {
    return 'unready';
  }
  return states.every(([, { status }]) => status === 'ready') ? 'ready' : 'degraded';
}

const DOWN = JSON.stringify({
  status: 'unready',
  checks: { process: { ok: false, detail: 'does not answer' } },
});

export function ask(
  { opsSocket }: Pick<Asked, 'opsSocket'>,
  path: string,
  timeoutMs = TIMEOUT_MS,
): Promise<Told> {
  return new Promise((resolve) => {
    let isSilent = false;
    const down = () => resolve({ status: 503, body: DOWN, isSilent });
    const question = request({ socketPath: opsSocket, path, timeout: timeoutMs }, (response) => {
      const told = (body: string) => resolve({ status: response.statusCode ?? 503, body, isSilent });
      text(response).then(told, down);
    });
    question.once('timeout', () => {
      isSilent = true;
      question.destroy();
    });
    question.once('error', down);
    question.end();
  });
}
