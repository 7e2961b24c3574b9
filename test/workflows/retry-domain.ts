import { AttemptOutcome, DeliveryStatus } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import type {
  DeliveryServiceService,
  RetryDelivery,
} from '../../generated/proto/integration/webhooks/v1/sending.js';
import { retriesOver } from '../../src/cli/roles/calls-of-domain.js';
import type { RpcChannel, RpcClient } from '../../src/rpc/client.js';
import type { RetryingDomain } from '../../workflows/activities/webhook-retry.js';
import type { AttemptToMake, RetryStatus } from '../../workflows/contract.js';
import type { RetryBatch, RetryBatchList } from '../../workflows/retry-batches.js';

interface Row {
  deliveryId: string;
  batchId: string;
  status: Exclude<RetryStatus, 'GONE'>;
  attemptsBegun: number;
  nextAttemptAt: number | undefined;
  leaseUntil: number | undefined;
  /** Whether the relay may claim it. */
  isDue: boolean;
  lastOutcome: AttemptOutcome;
  lastHttpStatus: number | undefined;
}

export interface Settings {
  /** Before the second and the third attempt. */
  delaysMs: readonly [number, number];
  leaseMs: number;
  /** How many attempts the relay has under way at most. */
  sends: number;
}

/** A receiver: what it answers to an attempt, or how the attempt ends else. */
export type Receiver = (attempt: AttemptToMake) => number | 'timed out' | Promise<number | 'timed out'>;

type Method = keyof RetryingDomain | keyof RetryBatchList;

/** Fails a call before it changes anything, or loses its answer afterwards. */
export type Fault = (method: Method) => 'before' | 'after' | undefined;

type DeliveryClient = Pick<
  RpcClient<typeof DeliveryServiceService>,
  'getRetryBatch' | 'makeDeliveriesDue' | 'giveUpDeliveries'
>;

const notEnded = { lastOutcome: AttemptOutcome.UNSPECIFIED, lastHttpStatus: undefined };

/**
 * The domain's rules about attempts, in memory: the counter, the lease and the consequences of results. Has a
 * relay that makes due attempts. Its deliveries begin with one failed attempt.
 */
export class RetryDomain {
  readonly rows = new Map<string, Row>();
  /** What reached the receiver, in order. */
  readonly sent: (AttemptToMake & { at: number })[] = [];
  /** Deliveries whose attempt a signal made due. */
  readonly hurried: string[] = [];
  readonly requestIds: string[] = [];
  readonly interrupted: AttemptToMake[] = [];
  fault: Fault = () => undefined;
  receiver: Receiver = () => 204;
  readonly #settings: Settings;
  readonly #handedOver = new Set<string>();

  constructor(settings: Partial<Settings> = {}) {
    this.#settings = { delaysMs: [50, 50], leaseMs: 60_000, sends: 1_000, ...settings };
  }

  add(batchId: string, ...rows: (Partial<Row> & { deliveryId: string })[]): this {
    const nextAttemptAt = Date.now() + this.#settings.delaysMs[0];
    for (const row of rows) {
      const begun = {
        batchId,
        status: 'PENDING',
        attemptsBegun: 1,
        nextAttemptAt,
        leaseUntil: undefined,
        isDue: false,
        ...notEnded,
      } as const;
      this.rows.set(row.deliveryId, { ...begun, ...row });
    }
    return this;
  }

  get statuses(): Record<string, string> {
    return Object.fromEntries([...this.rows].map(([id, { status }]) => [id, status]));
  }

  get isAllEnded(): boolean {
    return [...this.rows.values()].every(({ status }) => status !== 'PENDING');
  }

  /** As when the time of every lease is over. */
  endLeases(): void {
    for (const row of this.rows.values()) {
      row.leaseUntil &&= Date.now();
    }
  }

  /** Numbers of the attempts that reached the receiver. */
  attemptsAt(deliveryId: string): number[] {
    return this.sent.filter((each) => each.deliveryId === deliveryId).map((each) => each.attemptNumber);
  }

  readonly #client: DeliveryClient = {
    getRetryBatch: ({ batchId }, { requestId }) =>
      this.#call('retryBatch', requestId, () => {
        const deliveries = [...this.rows.values()].filter((row) => row.batchId === batchId).map(toDelivery);
        return { batch: { ...batchNamed(batchId), deliveries } };
      }),
    makeDeliveriesDue: ({ attempts }, { requestId }) =>
      this.#call('makeDue', requestId, () => ({
        deliveries: attempts.flatMap((attempt) => this.#makeDue(attempt)),
      })),
    giveUpDeliveries: ({ deliveryIds }, { requestId }) =>
      this.#call('giveUp', requestId, () => ({ deliveries: deliveryIds.flatMap((id) => this.#giveUp(id)) })),
  };

  readonly domain: RetryingDomain = retriesOver({ clientOf: () => this.#client } as unknown as RpcChannel);

  /** Every batch is over as soon as it is there. */
  readonly list: RetryBatchList = {
    toHandOver: ({ limit }, { requestId }) =>
      this.#call('toHandOver', requestId, () => this.#batches().slice(0, limit)),
    markHandedOver: (batchIds, { requestId }) =>
      this.#call('markHandedOver', requestId, () => {
        for (const batchId of batchIds) {
          this.#handedOver.add(batchId);
        }
      }),
  };

  async #call<T>(method: Method, requestId: string, work: () => T): Promise<T> {
    this.requestIds.push(requestId);
    const fault = this.fault(method);
    if (fault === 'before') {
      throw new Error('14 UNAVAILABLE: the domain is not there');
    }
    this.#sweep();
    const answer = work();
    if (fault === 'after') {
      throw new Error('14 UNAVAILABLE: the connection broke');
    }
    return answer;
  }

  #makeDue({ deliveryId, attemptNumber, bySignal }: AttemptToMake): RetryDelivery[] {
    const row = this.rows.get(deliveryId);
    if (
      row?.status === 'PENDING' &&
      row.attemptsBegun === attemptNumber - 1 &&
      row.leaseUntil === undefined
    ) {
      row.isDue = true;
      if (bySignal) {
        this.hurried.push(deliveryId);
      }
      this.#relay();
    }
    return row ? [toDelivery(row)] : [];
  }

  /** Attempts what is due, as far as there is room. */
  #relay(): void {
    const rows = [...this.rows.values()];
    const free = this.#settings.sends - rows.filter(({ leaseUntil }) => leaseUntil !== undefined).length;
    for (const row of rows.filter(({ isDue }) => isDue).slice(0, free)) {
      const leaseUntil = Date.now() + this.#settings.leaseMs;
      const attemptNumber = row.attemptsBegun + 1;
      const begun = { attemptsBegun: attemptNumber, nextAttemptAt: undefined, leaseUntil, isDue: false };
      Object.assign(row, begun, notEnded);
      void this.#send(row, attemptNumber);
    }
  }

  async #send(row: Row, attemptNumber: number): Promise<void> {
    const attempt = { deliveryId: row.deliveryId, attemptNumber };
    this.sent.push({ ...attempt, at: Date.now() });
    const answer = await this.receiver(attempt);
    if (row.attemptsBegun === attemptNumber) {
      Object.assign(row, endBy(answer));
    }
    if (typeof answer === 'number' && answer < 300) {
      end(row, 'DELIVERED');
    } else if (row.attemptsBegun === attemptNumber && row.leaseUntil !== undefined) {
      this.#fail(row);
    }
    this.#relay();
  }

  #fail(row: Row): void {
    row.leaseUntil = undefined;
    if (row.status !== 'PENDING') {
      return;
    }
    if (row.attemptsBegun >= 3) {
      end(row, 'EXHAUSTED');
    } else {
      row.nextAttemptAt = Date.now() + (this.#settings.delaysMs[row.attemptsBegun - 1] ?? 0);
    }
  }

  #giveUp(deliveryId: string): RetryDelivery[] {
    const row = this.rows.get(deliveryId);
    if (row?.status === 'PENDING') {
      end(row, 'EXHAUSTED', row.leaseUntil);
    }
    return row ? [toDelivery(row)] : [];
  }

  /** As the domain does all the time, for the relay's claims. */
  #sweep(): void {
    for (const row of this.rows.values()) {
      if (row.leaseUntil === undefined || row.leaseUntil > Date.now()) {
        continue;
      }
      this.interrupted.push({ deliveryId: row.deliveryId, attemptNumber: row.attemptsBegun });
      Object.assign(row, notEnded, { lastOutcome: AttemptOutcome.INTERRUPTED });
      this.#fail(row);
    }
    this.#relay();
  }

  #batches(): RetryBatch[] {
    const batchIds = new Set([...this.rows.values()].map(({ batchId }) => batchId));
    return [...batchIds]
      .filter((batchId) => !this.#handedOver.has(batchId))
      .map((batchId) => ({
        ...batchNamed(batchId),
        reason: 'answered 503',
        deliveries: [...this.rows.values()]
          .filter((row) => row.batchId === batchId)
          .map(({ deliveryId }) => deliveryId),
      }));
  }
}

function end(row: Row, status: Row['status'], leaseUntil?: number): void {
  Object.assign(row, { status, leaseUntil, nextAttemptAt: undefined, isDue: false });
}

function batchNamed(batchId: string) {
  return {
    batchId,
    subscriptionId: `whs_of_${batchId}`,
    instanceIntegrationId: 'iin_1',
    eventTypes: ['user.created', 'user.updated'],
    address: 'https://hooks.example.com',
  };
}

function endBy(answer: number | 'timed out'): Pick<Row, 'lastOutcome' | 'lastHttpStatus'> {
  if (answer === 'timed out') {
    return { lastOutcome: AttemptOutcome.TIMED_OUT, lastHttpStatus: undefined };
  }
  const lastOutcome = answer < 300 ? AttemptOutcome.SUCCEEDED : AttemptOutcome.STATUS_REFUSED;
  return { lastOutcome, lastHttpStatus: answer };
}

function toDelivery(row: Row): RetryDelivery {
  const { deliveryId, status, attemptsBegun, nextAttemptAt, leaseUntil, lastOutcome, lastHttpStatus } = row;
  return {
    ...{ deliveryId, attemptsBegun, lastOutcome, lastHttpStatus },
    status: DeliveryStatus[status],
    nextAttemptAt: nextAttemptAt === undefined ? undefined : new Date(nextAttemptAt),
    leaseExpiresAt: leaseUntil === undefined ? undefined : new Date(leaseUntil),
    waitMs:
      status === 'PENDING' ? Math.max(0, Math.max(leaseUntil ?? 0, nextAttemptAt ?? 0) - Date.now()) : 0,
  };
}
