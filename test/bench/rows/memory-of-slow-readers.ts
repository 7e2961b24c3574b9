import { setTimeout as sleep } from 'node:timers/promises';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { readSlowly } from '../load/slow-reader.js';
import { residents } from '../subjects/memory.js';
import { startService } from '../subjects/service.js';
import { cachedStoredWorkers, connectionId, workersPath } from '../subjects/stored-workers.js';

const READERS = 20;
const LONG = { clientNumber: 1, workers: 100_000 };
const SHORT = { clientNumber: 1_001, workers: 25_000 };
const SLOW_MS = 15_000;
const PAUSE_MS = 100;
const SAMPLE_EVERY_MS = 250;

const ROLES = ['edge', 'domain'];
const nameOf = (role: string) => `memory, ${READERS} slow readers of 100,000 workers, ${role} (MB)`;
const terms = { referenceName: `${READERS} of 25,000 workers`, goal: 1.25, higherIsBetter: false };

/**
 * The peak memory of edge and domain while many read one long list slowly, compared with a list a quarter as
 * long, which is also longer than the buffers. Unbounded, each reader would take 34 MB.
 */
export const memoryOfSlowReaders: Comparison = {
  rows: Object.fromEntries(ROLES.map((role) => [nameOf(role), terms])),
  warmUpRounds: 0,
  rounds: 1,
  setUp: async (scope) => {
    const workplace = await cachedStoredWorkers(scope, 'long-lists', [
      { firstNumber: LONG.clientNumber, clients: 1, workersEach: LONG.workers },
      { firstNumber: SHORT.clientNumber, clients: 1, workersEach: SHORT.workers },
    ]);
    return {
      ours: () => scope.within((round) => peaks(round, workplace, LONG)),
      reference: () => scope.within((round) => peaks(round, workplace, SHORT)),
    };
  },
};

async function peaks(
  scope: Scope,
  workplace: string,
  { clientNumber }: typeof LONG,
): Promise<Record<string, number>> {
  const service = await startService(scope, workplace);
  const headers = { 'x-api-key': service.apiKeyReaching(connectionId()) };
  const path = workersPath('v1', clientNumber);
  const slowUntil = sleep(SLOW_MS);
  const reading = Promise.all(
    Array.from({ length: READERS }, () =>
      readSlowly({ port: service.gatewayPort, path, headers, slowUntil, pauseMs: PAUSE_MS }),
    ),
  );
  const most = new Map<string, number>();
  let over = false;
  const watched = reading.finally(() => {
    over = true;
  });
  while (!over) {
    const family = (await residents()).filter(({ parentPid }) => parentPid === service.pid);
    for (const role of ROLES) {
      const now = family.find(({ command }) => command.includes(`main.js ${role}`))?.megabytes ?? 0;
      most.set(role, Math.max(most.get(role) ?? 0, now));
    }
    await Promise.race([watched, sleep(SAMPLE_EVERY_MS)]);
  }
  await watched;
  return Object.fromEntries(ROLES.map((role) => [nameOf(role), most.get(role) ?? Number.NaN]));
}
