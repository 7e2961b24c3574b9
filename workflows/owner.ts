import { type Connection, ScheduleClient, type ScheduleDescription } from '@temporalio/client';
import { scheduleIds } from './contract.js';
import { limitedCall } from './limited-call.js';

const ANSWER_LIMIT_MS = 3_000;

/** By which the installations on one Temporal differ. */
export interface OwnerClaim {
  issuer: string;
  /** The owner that this installation may replace. */
  replaces?: string | undefined;
  replacesAny?: boolean;
}

/** Two installations in one namespace would take each other's tasks. */
export class NamespaceTaken extends Error {}

/** In the action of each schedule, and so in its runs. */
export function ownerMemo(claim: OwnerClaim | undefined): { installation?: string } {
  return claim ? { installation: claim.issuer } : {};
}

/** Throws a sentence if the schedule is that of another installation. Earlier releases name no owner. */
export function refuseOther({ action }: Pick<ScheduleDescription, 'action'>, claim?: OwnerClaim): void {
  const owner = action.memo?.installation;
  if (!claim || claim.replacesAny || typeof owner !== 'string') {
    return;
  }
  if (owner !== claim.issuer && owner !== claim.replaces) {
    throw new NamespaceTaken(
      `The Temporal namespace belongs to the installation ${owner}, and SIGN_ON_URL is ${claim.issuer}: set ` +
        `TEMPORAL_NAMESPACE to a namespace of this installation alone, or PREVIOUS_SIGN_ON_URL=${owner} to replace it.`,
    );
  }
}

/** The same for a namespace, before its use. One that cannot be asked passes: the probes ask again. */
export async function askForOwner(
  connection: Connection,
  namespace: string,
  claim: OwnerClaim | undefined,
  over: AbortSignal,
): Promise<void> {
  const { purge } = scheduleIds;
  const client = new ScheduleClient({ connection, namespace });
  const schedule = await limitedCall(connection, over, ANSWER_LIMIT_MS, () =>
    client.getHandle(purge).describe(),
  ).catch(() => undefined);
  if (schedule) {
    refuseOther(schedule, claim);
  }
}
