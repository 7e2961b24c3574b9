import { pause } from '../../../workflows/backoff.js';
import type { Log } from '../../telemetry/log.js';
import { ROLE_NAMES } from '../roles/role.js';
import { isListening, opsSocketOf } from '../sockets.js';

const LOOK_EVERY_MS = 100;

/**
 * Waits for the roles of a killed supervisor that had become ready. They finish their calls first, and until
 * then hold ports and locks; at their end each removes its socket, which could be that of its successor.
 */
export async function untilEarlierRolesEnd(
  runDir: string,
  limitMs: number,
  log: Log,
  ending: AbortSignal,
): Promise<void> {
  const endsAt = performance.now() + limitMs;
  for (let looks = 0; await doesAnyListen(runDir); looks += 1) {
    if (ending.aborted) {
      return;
    }
    if (performance.now() > endsAt) {
      log.warn('starting beside roles of an earlier supervisor', { limitMs });
      return;
    }
    if (looks === 0) {
      log.warn('waiting for the roles of an earlier supervisor to end', { limitMs });
    }
    await pause(LOOK_EVERY_MS, ending);
  }
}

async function doesAnyListen(runDir: string): Promise<boolean> {
  const answers = await Promise.all(
    ROLE_NAMES.map((role) => isListening({ path: opsSocketOf(runDir, role) })),
  );
  return answers.includes(true);
}
