import type { DeliveryId } from '../../../../generated/ids.js';
import { ErrorCode, existing, refused } from '../../../errors/service-error.js';
import type { Actor } from '../../operator/audit.js';
import { auditChange, type WriteOrigin } from '../../unit-of-work.js';
import { subscriptionDisabled } from '../subscriptions/rows.js';
import { givenUp } from './results.js';
import type { DeliveryProgress, RetriedDelivery, SendingChanges, SendingDependencies } from './sending.js';

export interface LaterAttempt {
  id: DeliveryId;
  number: number;
  /** True if a signal asked for it, false if its time came. */
  bySignal: boolean;
}

const LATER_NUMBERS = [2, 3];

/**
 * Makes second and third attempts due for the next claim: now for a signal, otherwise at their time, because
 * clocks differ. Records those that a signal asked for. Returns the progress of each delivery
 * that is not purged. Idempotent.
 */
export async function makeDeliveriesDue(
  { unitOfWork, deliveriesDue, clock }: SendingDependencies,
  actor: Actor,
  attempts: readonly LaterAttempt[],
): Promise<RetriedDelivery[]> {
  const ids = attempts.map(({ id }) => id);
  const seen = await unitOfWork.rows.retried(ids);
  const asked = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  const isBySignal = (id: DeliveryId) => asked.get(id)?.bySignal === true;
  const isEarly = ({ id, status, attemptsBegun, nextAttemptAt, graceMs }: DeliveryProgress, now: number) =>
    status === 'PENDING' &&
    attemptsBegun + 1 === asked.get(id)?.number &&
    nextAttemptAt !== null &&
    nextAttemptAt + graceMs > now &&
    (graceMs > 0 || isBySignal(id));
  const now = clock();
  const early = seen.filter((delivery) => isEarly(delivery, now));
  if (early.length === 0) {
    return seen;
  }
  await unitOfWork.run(async (changes) => {
    const present = await changes.look(early.map(({ id }) => id));
    const held = (await changes.hold(present, false)).filter((delivery) => isEarly(delivery, changes.now));
    for (const number of LATER_NUMBERS) {
      const waiting = held.filter(({ attemptsBegun }) => attemptsBegun + 1 === number).map(({ id }) => id);
      await changes.retryBatches.makeDue(waiting.filter(isBySignal), number, 'now');
      await changes.retryBatches.makeDue(
        waiting.filter((id) => !isBySignal(id)),
        number,
        'at its time',
      );
    }
    const bySignal = held.filter(({ id }) => isBySignal(id));
    await tellOfSignal(changes, actor, 'deliveries.retried', bySignal);
  });
  deliveriesDue.wake();
  return unitOfWork.rows.retried(ids);
}

/** Ends deliveries without further attempts, for a signal. Returns the progress of each not purged. */
export async function giveUpDeliveries(
  { unitOfWork, onEnded }: SendingDependencies,
  actor: Actor,
  ids: readonly DeliveryId[],
): Promise<RetriedDelivery[]> {
  const count = await unitOfWork.run(async (changes) => {
    const ended: DeliveryProgress[] = [];
    for (const delivery of await changes.hold(await changes.look(ids), false)) {
      const given = givenUp(delivery, changes.now);
      if (given !== delivery) {
        await changes.settle(given);
        ended.push(given);
      }
    }
    await tellOfSignal(changes, actor, 'deliveries.given_up', ended);
    return ended.length;
  });
  if (count > 0) {
    onEnded?.('EXHAUSTED', count);
  }
  return unitOfWork.rows.retried(ids);
}

/**
 * Makes the next attempt of a pending delivery due now. Its workflow learns of it at its next step. Changes
 * and records nothing if it is due already.
 */
export async function retryDelivery(
  { unitOfWork, deliveriesDue }: Pick<SendingDependencies, 'unitOfWork' | 'deliveriesDue'>,
  actor: Actor,
  id: string,
  origin: WriteOrigin,
): Promise<void> {
  await unitOfWork.run(async (changes) => {
    const delivery = await heldPending(changes, id);
    if (delivery.attemptStartedAt !== null) {
      throw refused('An attempt is in progress.');
    }
    if ((await changes.receivers([delivery.subscriptionId])).length === 0) {
      throw subscriptionDisabled();
    }
    const number = delivery.attemptsBegun + 1;
    if ((await changes.retryBatches.makeDue([delivery.id], number, 'now')) > 0) {
      await tell(changes, actor, 'delivery.retried', delivery);
    }
  }, origin);
  deliveriesDue.wake();
}

/** Ends a pending delivery without further attempts; one in progress may still succeed. */
export async function giveUpDelivery(
  { unitOfWork, onEnded }: Pick<SendingDependencies, 'unitOfWork' | 'onEnded'>,
  actor: Actor,
  id: string,
  origin: WriteOrigin,
): Promise<void> {
  await unitOfWork.run(async (changes) => {
    const delivery = await heldPending(changes, id);
    await changes.settle(givenUp(delivery, changes.now));
    await tell(changes, actor, 'delivery.given_up', delivery);
  }, origin);
  onEnded?.('EXHAUSTED', 1);
}

async function heldPending(changes: SendingChanges, id: string): Promise<DeliveryProgress> {
  const seen = await changes.look([id as DeliveryId]);
  const [found] = await changes.hold(seen, false);
  const delivery = existing(found, ErrorCode.DELIVERY_NOT_FOUND, 'delivery');
  if (delivery.status !== 'PENDING') {
    throw refused(`The delivery is ${delivery.status.toLowerCase()}; only a pending one waits for attempts.`);
  }
  return delivery;
}

function tell(
  { audit }: SendingChanges,
  actor: Actor,
  type: 'delivery.retried' | 'delivery.given_up',
  { id, subscriptionId, attemptsBegun }: DeliveryProgress,
): Promise<void> {
  const attributes = { subscription_id: subscriptionId, attempts_begun: String(attemptsBegun) };
  return auditChange({ audit, actor }, type, id, attributes);
}

/** One record for each subscription: a workflow has the deliveries of one. */
async function tellOfSignal(
  changes: SendingChanges,
  actor: Actor,
  type: 'deliveries.retried' | 'deliveries.given_up',
  deliveries: readonly DeliveryProgress[],
): Promise<void> {
  for (const id of new Set(deliveries.map(({ subscriptionId }) => subscriptionId))) {
    const ids = deliveries.filter(({ subscriptionId }) => subscriptionId === id).map((each) => each.id);
    await changes.audit(actor, {
      type,
      subject: { type: 'subscription', id },
      attributes: { delivery_ids: ids.join(' ') },
    });
  }
}
