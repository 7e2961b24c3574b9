import { randomInt } from 'node:crypto';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { OwnerSlots } from '../../fairness/owner-slots.js';
import type { Visitor } from './gatekeeper.js';

interface ListLimits {
  perIntegration: number;
  inTotal: number;
}

/**
 * A list holds memory and a call while it is read. Fewer in total than the calls of a connection. An
 * integration gets another slot only while it holds fewer than are free.
 */
export const LIST_LIMITS: ListLimits = { perIntegration: 64, inTotal: 192 };

/** With more lists at once, the further pages of an integration are small and let short calls go first. */
const FEW = 4;

/** How long a slot is kept for the rest of its list. The edge asks for it at once, perhaps another node. */
const LEFT_FOR_MS = 250;

/** Random, so that the callers refused at the same time do not return together. */
const RETRY_AFTER_SECONDS = { least: 5, below: 15 };

/** Call it once. */
export type ReleaseSlot = () => void;

/** Counts the lists in progress, in memory. */
export class ListSlots {
  readonly #slots: OwnerSlots;
  /** Timers of the slots kept for a rest, oldest first; those of an integration are alike. */
  readonly #left = new Map<string, Set<NodeJS.Timeout>>();

  constructor(
    private readonly limits: ListLimits = LIST_LIMITS,
    /** What is read, for the refusal. */
    private readonly things = 'lists',
  ) {
    this.#slots = new OwnerSlots({ inTotal: limits.inTotal });
  }

  /** Holds a slot until it is released, or refuses. */
  hold(visitor: Visitor): ReleaseSlot {
    const { integrationId } = visitor;
    const read = this.#slots.heldBy(integrationId) + (this.#left.get(integrationId)?.size ?? 0);
    if (read >= this.limits.perIntegration) {
      throw tooMany(
        `Your integration is reading ${read} ${this.things} at once. Please finish one first.`,
        visitor,
      );
    }
    // Otherwise three integrations that read slowly would leave none for others.
    if (!this.#slots.take(integrationId)) {
      throw tooMany(`Too many ${this.things} are being read at once. Please try again shortly.`, visitor);
    }
    return () => this.#slots.give(integrationId);
  }

  /** Keeps a slot of the integration for the rest of a list that ends now, for a short time. */
  leave({ integrationId }: Visitor): void {
    const left = this.#left.get(integrationId) ?? new Set();
    const timer = setTimeout(() => this.#forget(integrationId, timer), LEFT_FOR_MS).unref();
    this.#left.set(integrationId, left.add(timer));
  }

  /** Gives up such a slot, for the rest of its list to hold. */
  takeOver({ integrationId }: Visitor): void {
    const [timer] = this.#left.get(integrationId) ?? [];
    if (timer) {
      clearTimeout(timer);
      this.#forget(integrationId, timer);
    }
  }

  areMany(integrationId: string): boolean {
    return this.#slots.heldBy(integrationId) > FEW;
  }

  #forget(integrationId: string, timer: NodeJS.Timeout): void {
    const left = this.#left.get(integrationId);
    left?.delete(timer);
    if (left?.size === 0) {
      this.#left.delete(integrationId);
    }
  }
}

function tooMany(message: string, visitor: Visitor): ServiceError {
  const retryAfterSeconds = randomInt(RETRY_AFTER_SECONDS.least, RETRY_AFTER_SECONDS.below);
  return new ServiceError(ErrorCode.RATE_LIMITED, message, {
    rateLimit: visitor.rateLimit,
    retryAfterSeconds,
    keyHolder: visitor,
  });
}
