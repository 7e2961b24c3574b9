import { setTimeout as pause } from 'node:timers/promises';
import { OwnerSlots } from '../../fairness/owner-slots.js';
import { BUSY, type Dispatch } from './exchange.js';
import { belowContracts, type RefusalOptions } from './unreadable.js';

/** Unanswered requests of all connections. */
const MAX_REQUESTS = 4_096;
/** A client without a slot waits this long for its refusal, lest it ask again at once. */
const REFUSAL_WAIT_MS = 500;
/** So many wait; others are refused at once, because each takes memory. */
const MOST_WITHOUT_SLOT = 1_024;

export interface SlotOptions extends RefusalOptions {
  dispatch: Dispatch;
  maxRequests?: number;
  /** Called for each request that finds no slot. */
  onRefused?: () => void;
}

/** Each network has its share of slots, so that one network does not block the others. */
export function dispatchInSlot(options: SlotOptions): Dispatch {
  const { dispatch, maxRequests = MAX_REQUESTS } = options;
  const slots = new OwnerSlots({ inTotal: maxRequests });
  let withoutSlot = 0;
  return async (request) => {
    const { network } = request;
    if (!slots.take(network)) {
      options.onRefused?.();
      if (withoutSlot < MOST_WITHOUT_SLOT) {
        withoutSlot += 1;
        await pause(REFUSAL_WAIT_MS);
        withoutSlot -= 1;
      }
      return belowContracts(503, request, BUSY, options);
    }
    try {
      return await dispatch(request);
    } finally {
      slots.give(network);
    }
  };
}
