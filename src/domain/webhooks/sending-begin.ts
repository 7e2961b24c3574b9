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

export interface LaterAttempt {
  id: DeliveryId;
  number: number;
}

type BeginDependencies = SendingDependencies & { targets: DeliveryTargets; clock: Clock };

/** Begins second and third attempts, whether they are due yet or not: who retries decides when. Answers one beginning for each. */
export async function beginAttempts(
  dependencies: BeginDependencies,
  attempts: readonly LaterAttempt[],
): Promise<Beginning[]> {
  const beginnings = await beginAll(dependencies, attempts);
  const now = dependencies.clock();
  const isLapsed = (index: number) => {
    const delivery = refusedIn(beginnings[index]);
    return delivery !== undefined && hasLapsed(delivery, now);
  };
  const lapsed = [...attempts.keys()].filter(isLapsed);
  if (lapsed.length > 0) {
    await recordLapsed(
      dependencies,
      lapsed.flatMap((index) => refusedIn(beginnings[index]) ?? []),
    );
    const again = await beginAll(
      dependencies,
      lapsed.map((index) => attempts[index] as LaterAttempt),
    );
    for (const [place, index] of lapsed.entries()) {
      beginnings[index] = again[place] as Beginning;
    }
  }
  return beginnings;
}

function beginAll(dependencies: BeginDependencies, attempts: readonly LaterAttempt[]): Promise<Beginning[]> {
  return dependencies.unitOfWork.run(async (changes) => {
    const beginnings: Beginning[] = [];
    for (const attempt of attempts) {
      beginnings.push(await beginIn(changes, dependencies, attempt));
    }
    return beginnings;
  });
}

function refusedIn(beginning: Beginning | undefined): DeliveryProgress | undefined {
  return beginning && 'refused' in beginning ? beginning.refused.delivery : undefined;
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
