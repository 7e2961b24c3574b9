import type {
  AttemptResult,
  ClaimDeliveriesRequest,
  ClaimDeliveriesResponse,
  DeliveryBody,
} from '../../generated/proto/integration/webhooks/v1/sending.js';
import type { AttemptReport, AttemptTime, Sender, SendTarget } from '../../src/delivery/attempt.js';
import type { DeliveryClient } from '../../src/delivery/relay.js';

type ClaimOptions = Parameters<DeliveryClient['claimDeliveries']>[1];

/** The domain's side of attempts, in memory: hands out due ones once, and waits otherwise. */
export class FakeDomain implements DeliveryClient {
  readonly claims: ClaimDeliveriesRequest[] = [];
  mostClaimsAtOnce = 0;
  readonly recorded = new Map<string, AttemptResult>();
  /** What goes wrong with a call, before it has done anything. */
  claimFault: Error | undefined;
  recordFault: ((results: AttemptResult[]) => Error | undefined) | undefined;
  leaseMs = 30_000;
  /** How far its clock is ahead of that of this machine. */
  aheadMs = 0;
  /** If set, the address of all subscriptions. */
  url: string | undefined;
  /** Of first attempts. */
  waitedMs = 3_000;
  #due: { deliveryId: string; subscriptionId: string; attemptNumber: number }[] = [];
  readonly #changes = new Set<() => void>();
  #count = 0;
  #claiming = 0;

  /** Differs where the ids of two domains must not be mixed up. */
  constructor(private readonly idPrefix = 'whd') {}

  /** Makes so many deliveries due, and answers their ids. */
  add(count: number, subscriptionId = 'whs_1', attemptNumber = 1): string[] {
    const ids = Array.from({ length: count }, () => {
      this.#count += 1;
      return `${this.idPrefix}_${this.#count}`;
    });
    this.#due.push(...ids.map((deliveryId) => ({ deliveryId, subscriptionId, attemptNumber })));
    this.#changed();
    return ids;
  }

  async claimDeliveries(
    request: ClaimDeliveriesRequest,
    { signal }: ClaimOptions,
  ): Promise<ClaimDeliveriesResponse> {
    this.claims.push(request);
    this.#claiming += 1;
    this.mostClaimsAtOnce = Math.max(this.mostClaimsAtOnce, this.#claiming);
    try {
      await new Promise(setImmediate);
      await this.until(() => this.#due.length > 0 || this.claimFault !== undefined, signal);
      if (this.claimFault) {
        throw this.claimFault;
      }
      return this.#response(this.#due.splice(0, request.freeSlots));
    } finally {
      this.#claiming -= 1;
    }
  }

  async recordAttempts({ results }: { results: AttemptResult[] }) {
    await new Promise(setImmediate);
    const fault = this.recordFault?.(results);
    if (fault) {
      throw fault;
    }
    for (const result of results) {
      this.recorded.set(result.deliveryId, result);
    }
    this.#changed();
    return {};
  }

  /** Resolves once it holds; it is looked at whenever something happened here. */
  until(holds: () => boolean, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (signal?.aborted || holds()) {
          this.#changes.delete(look);
          // One signal may be that of many claims.
          signal?.removeEventListener('abort', look);
          signal?.aborted ? reject(signal.reason) : resolve();
        }
      };
      signal?.addEventListener('abort', look);
      this.#changes.add(look);
      look();
    });
  }

  untilRecorded(ids: readonly string[]): Promise<void> {
    return this.until(() => ids.every((id) => this.recorded.has(id)));
  }

  fail(error: Error | undefined): void {
    this.claimFault = error;
    this.#changed();
  }

  #changed(): void {
    for (const look of [...this.#changes]) {
      look();
    }
  }

  #response(
    claimed: { deliveryId: string; subscriptionId: string; attemptNumber: number }[],
  ): ClaimDeliveriesResponse {
    const subscriptions = [...new Set(claimed.map(({ subscriptionId }) => subscriptionId))];
    return {
      deliveries: claimed.map(({ deliveryId, subscriptionId, attemptNumber }, bodyIndex) => ({
        deliveryId,
        attemptNumber,
        waitedMs: attemptNumber === 1 ? this.waitedMs : undefined,
        targetIndex: subscriptions.indexOf(subscriptionId),
        bodyIndex,
        leaseExpiresAt: new Date(Date.now() + this.aheadMs + this.leaseMs),
      })),
      targets: subscriptions.map((subscriptionId) => ({
        subscriptionId,
        url: this.url ?? `https://${subscriptionId}.example.com/`,
        signingSecrets: [Buffer.from('secret')],
      })),
      bodies: claimed.map(({ deliveryId }) => ({
        eventId: `evt_${deliveryId}`,
        eventType: 'user.updated',
        body: Buffer.from('{}'),
      })),
      leasedForMs: this.leaseMs,
    };
  }
}

/** Holds each attempt until the test lets it end. */
export class HeldSender implements Sender {
  readonly running = new Map<string, (outcome: AttemptReport['outcome']) => void>();
  mostRunning = 0;
  attempts = 0;
  /** What the last attempt was told about time. */
  time: AttemptTime | undefined;

  /** `isQuick` selects targets with immediate success. */
  constructor(private readonly isQuick: (target: SendTarget) => boolean = () => false) {}

  attempt(target: SendTarget, { eventId }: DeliveryBody, time?: AttemptTime): Promise<AttemptReport> {
    this.attempts += 1;
    this.time = time;
    return new Promise((resolve) => {
      const end = (outcome: AttemptReport['outcome']) => {
        this.running.delete(eventId);
        resolve({
          durationMs: 1,
          outcome,
          httpStatus: outcome === 'SUCCEEDED' ? 204 : undefined,
          message: outcome === 'SUCCEEDED' ? '' : 'It failed.',
          responseStart: Buffer.alloc(0),
          retryAfterSeconds: undefined,
        });
      };
      this.running.set(eventId, end);
      this.mostRunning = Math.max(this.mostRunning, this.running.size);
      if (this.isQuick(target)) {
        setImmediate(end, 'SUCCEEDED');
      }
    });
  }

  endAll(outcome: AttemptReport['outcome'] = 'SUCCEEDED'): void {
    for (const end of [...this.running.values()]) {
      end(outcome);
    }
  }

  close(): void {
    this.endAll('INTERRUPTED');
  }
}
