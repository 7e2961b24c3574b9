import { join } from 'node:path';
import type { Comparison, Terms } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { settledMemory } from '../subjects/memory.js';
import { startService } from '../subjects/service.js';
import { startNode } from '../subjects/started-process.js';
import { makeWorkplace } from '../subjects/workplace.js';

/** The limits as multiples of Node alone. The worker includes the native core of Temporal. */
const GOALS = { serve: 1.75, domain: 2.75, worker: 2.75, edge: 2.5 };

const ROLES = Object.keys(GOALS);

const nameOf = (role: string) => `memory at rest, ${role} (MB)`;

const termsOf = (goal: number): Terms => ({
  referenceName: 'Node with nothing loaded',
  goal,
  higherIsBetter: false,
});

/** What each process of `serve` holds once it has served its first request and come to rest. */
export const memoryAtRest: Comparison = {
  rows: Object.fromEntries(Object.entries(GOALS).map(([role, goal]) => [nameOf(role), termsOf(goal)])),
  warmUpRounds: 0,
  rounds: 3,
  setUp: async (scope) => ({
    ours: () => scope.within(readService),
    reference: () => scope.within(readBareNode),
  }),
};

async function readService(scope: Scope): Promise<Record<string, number>> {
  const service = await startService(scope, makeWorkplace(scope));
  const family = await settledMemory(service.pid);
  const megabytesOf = (role: string) =>
    family.find(({ command }) => command.includes(`main.js ${role}`))?.megabytes ?? Number.NaN;
  return Object.fromEntries(ROLES.map((role) => [nameOf(role), megabytesOf(role)]));
}

async function readBareNode(scope: Scope): Promise<Record<string, number>> {
  const logFile = join(makeWorkplace(scope), 'node.log');
  const { pid } = startNode(scope, { arguments: ['--eval', 'setInterval(() => undefined, 1e6)'], logFile });
  const megabytes = (await settledMemory(pid))[0]?.megabytes ?? Number.NaN;
  return Object.fromEntries(ROLES.map((role) => [nameOf(role), megabytes]));
}
