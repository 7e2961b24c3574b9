import type { DeliveryId } from '../../../generated/ids.js';
import { internalError } from '../../errors/service-error.js';
import type { Clock } from '../clock.js';
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

/** Begins the second or third attempt, whether it is due yet or not: who retries decides when. */
export async function beginAttempt(
  dependencies: SendingDependencies & { targets: DeliveryTargets; clock: Clock },
  id: DeliveryId,
  number: number,
): Promise<Beginning> {
  const begin = () => dependencies.unitOfWork.run((changes) => beginIn(changes, dependencies, id, number));
  const beginning = await begin();
  const delivery = 'refused' in beginning ? beginning.refused.delivery : undefined;
  if (!delivery || !hasLapsed(delivery, dependencies.clock())) {
    return beginning;
  }
  await recordLapsed(dependencies, [delivery]);
  return begin();
}

async function beginIn(
  changes: SendingChanges,
  { settings, targets }: Pick<SendingDependencies, 'settings'> & { targets: DeliveryTargets },
  id: DeliveryId,
  number: number,
): Promise<Beginning> {
  const leaseUntil = leaseFrom(changes.now, settings);
  const begun = await changes.beginLater(id, number, leaseUntil);
  if (!begun) {
    const [delivery] = await changes.look([id]);
    return { refused: { reason: refusalOf(delivery, number), delivery } };
  }
  const [receiver] = await changes.receivers([begun.subscriptionId]);
  const [event] = await changes.events([begun.eventId]);
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
