import type { DeliveryId } from '../../../generated/ids.js';
import { internalError } from '../../errors/service-error.js';
import { bodyOf, type DeliveryBody } from './claims-shares.js';
import {
  type DeliveryProgress,
  leaseFrom,
  type SendingChanges,
  type SendingDependencies,
} from './sending.js';
import { hasLapsed, recordLapsed } from './sending-lapses.js';
import type { DeliveryTarget, DeliveryTargets } from './sending-targets.js';

export type RefusalReason = 'ALREADY_BEGUN' | 'LEASE_RUNNING' | 'OUT_OF_TURN' | 'ENDED' | 'NOT_FOUND';

/** Send, or do not. */
export type Beginning =
  | { begun: { target: DeliveryTarget; body: DeliveryBody; leaseUntil: number } }
  | { refused: { reason: RefusalReason; delivery: DeliveryProgress | undefined } };

export interface LaterAttempt {
  id: DeliveryId;
  number: number;
}

type BeginDependencies = SendingDependencies & { targets: DeliveryTargets };

/**
 * Begins second and third attempts, whether they are due yet or not: who retries decides when. Answers one beginning for each, or has begun none: what
 * has begun and is not answered is burnt.
 */
export async function beginAttempts(
  dependencies: BeginDependencies,
  attempts: readonly LaterAttempt[],
  caller: AbortSignal,
): Promise<Beginning[]> {
  for (;;) {
    const { beginnings, lapsed } = await dependencies.unitOfWork.run((changes) =>
      beginAll(changes, dependencies, attempts, caller),
    );
    if (beginnings) {
      return beginnings;
    }
    await recordLapsed(dependencies, lapsed);
  }
}

/** None while the lease of one is over, and that is not recorded yet. */
async function beginAll(
  changes: SendingChanges,
  dependencies: BeginDependencies,
  attempts: readonly LaterAttempt[],
  caller: AbortSignal,
): Promise<{ beginnings?: Beginning[]; lapsed: DeliveryProgress[] }> {
  const looked = await changes.look(attempts.map(({ id }) => id));
  const held = await changes.hold(looked, false);
  const lapsed = held.filter((delivery) => hasLapsed(delivery, changes.now));
  if (lapsed.length > 0) {
    return { lapsed };
  }
  const beginnings: Beginning[] = [];
  for (const attempt of attempts) {
    beginnings.push(await beginIn(changes, dependencies, attempt));
  }
  if (caller.aborted) {
    throw internalError('whoever wanted to begin attempts has gone');
  }
  return { beginnings, lapsed };
}

async function beginIn(
  changes: SendingChanges,
  { settings, targets }: Pick<SendingDependencies, 'settings'> & { targets: DeliveryTargets },
  { id, number }: LaterAttempt,
): Promise<Beginning> {
  const leaseUntil = leaseFrom(changes.now, settings);
  const begun = await changes.beginLater(id, number, leaseUntil);
  if (!begun) {
    const [delivery] = await changes.look([id]);
    return { refused: { reason: refusalOf(delivery, number), delivery } };
  }
  const [receiver] = await changes.receivers([begun.subscriptionId]);
  const [event] = await changes.events([begun.eventSeq]);
  if (!receiver || !event) {
    throw internalError(`the delivery ${id} has lost its ${receiver ? 'event' : 'subscription'}`);
  }
  return { begun: { target: targets.of(receiver), body: bodyOf(event, receiver), leaseUntil } };
}

function refusalOf(delivery: DeliveryProgress | undefined, number: number): RefusalReason {
  if (!delivery) {
    return 'NOT_FOUND';
  }
  if (delivery.status !== 'PENDING') {
    return 'ENDED';
  }
  if (delivery.attemptsBegun >= number) {
    return 'ALREADY_BEGUN';
  }
  // Where it is neither, the attempt before has just ended: whoever asks again may begin.
  return delivery.attemptsBegun < number - 1 ? 'OUT_OF_TURN' : 'LEASE_RUNNING';
}
