import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../support/eventually.js';
import type { Role, ServiceProcess } from '../../support/service-process.js';
import type { Traffic } from './traffic.js';

export type Strike = 'killed' | 'frozen' | 'drained';

/** Longer than an edge waits for a call. */
const FREEZE_MS = 5_500;
const ANSWERS_BESIDE_FROZEN_WORKER = 10;

/** Ends the role in this way; settles when it runs again, unfrozen here or started by its parent. */
export async function strike(
  role: Role,
  how: Strike,
  service: ServiceProcess,
  traffic: Traffic,
): Promise<void> {
  const pid = service.pidOf(role);
  if (how === 'frozen') {
    process.kill(pid, 'SIGSTOP');
    await untilFeltOf(role, traffic).finally(() => process.kill(pid, 'SIGCONT'));
    return;
  }
  process.kill(pid, how === 'killed' ? 'SIGKILL' : 'SIGTERM');
  await eventually(`the ${role} back`, () => service.pidOf(role) !== pid);
}

/** Calls to a frozen domain end at their deadlines. A frozen edge shows no event of any kind. */
function untilFeltOf(role: Role, traffic: Traffic): Promise<unknown> {
  switch (role) {
    case 'domain':
      return traffic.untilEachRefused();
    case 'edge':
      return pause(FREEZE_MS);
    case 'worker':
      return traffic.untilEachAnswered(ANSWERS_BESIDE_FROZEN_WORKER);
  }
}
