import {
  type AttemptBeginning,
  type AttemptReport,
  ResultRefused,
  type RetriedDelivery,
  type RetryDependencies,
  type RetryingDomain,
  type SendBody,
} from '../../workflows/activities/retry-ports.js';
import type { AttemptToMake } from '../../workflows/contract.js';
import type { RetryBatchList } from '../../workflows/retry-batches.js';
import type { RetryBatch } from '../../workflows/start-retry.js';

interface Row {
  deliveryId: string;
  batchId: string;
  status: RetriedDelivery['status'];
  attemptsBegun: number;
  nextAttemptAt: number | undefined;
  leaseUntil: number | undefined;
}

export interface Settings {
  /** Before the second and the third attempt. */
  delaysMs: readonly [number, number];
  leaseMs: number;
}

/** A receiver: what it answers to an attempt, or how the attempt ends else. */
export type Receiver = (
  attempt: AttemptToMake,
  signal: AbortSignal | undefined,
) => number | AttemptReport['outcome'] | Promise<number | AttemptReport['outcome']>;

type Method = keyof RetryingDomain | keyof RetryBatchList;

/** Fails a call before it changes anything, or loses its answer afterwards. */
export type Fault = (method: Method) => 'before' | 'after' | 'refused' | undefined;

/**
 * The domain's rules about attempts, in memory: the counter, the lease and what follows from a result. Its deliveries
 * begin as the relay leaves them, with a first attempt that failed.
 */
export class RetryDomain {
  readonly rows = new Map<string, Row>();
  /** What reached the receiver, in order. */
  readonly sent: (AttemptToMake & { at: number })[] = [];
  readonly requestIds: string[] = [];
  readonly interrupted: AttemptToMake[] = [];
  fault: Fault = () => undefined;
  receiver: Receiver = () => 204;
  readonly #settings: Settings;
  readonly #handedOver = new Set<string>();

  constructor(settings: Partial<Settings> = {}) {
    this.#settings = { delaysMs: [50, 50], leaseMs: 2_000, ...settings };
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

  /** Numbers of the attempts that reached the receiver. */
  attemptsAt(deliveryId: string): number[] {
    return this.sent.filter((each) => each.deliveryId === deliveryId).map((each) => each.attemptNumber);
  }

  dependencies(options: Partial<RetryDependencies> = {}): RetryDependencies {
    return {
      domain: this.domain,
      sender: { attempt: (_, body, signal) => this.#send(body, signal) },
      sends: { atOnce: 1_000, atOncePerSubscription: 16 },
      ending: new AbortController().signal,
      ...options,
    };
  }

  readonly domain: RetryingDomain = {
    retryBatch: (batchId, { requestId }) =>
      this.#call('retryBatch', requestId, () =>
        [...this.rows.values()].filter((row) => row.batchId === batchId).map(toDelivery),
      ),
    beginAttempt: (attempt, { requestId }) =>
      this.#call('beginAttempt', requestId, () => this.#begin(attempt)),
    recordAttempt: (attempt, report, { requestId }) =>
      this.#call('recordAttempt', requestId, () => this.#record(attempt, report)),
    giveUp: (deliveryIds, { requestId }) =>
      this.#call('giveUp', requestId, () => deliveryIds.flatMap((id) => this.#giveUp(id))),
  };

  /** Every batch is over as soon as it is there. */
  readonly list: RetryBatchList = {
    toHandOver: ({ limit }, { requestId }) =>
      this.#call('toHandOver', requestId, () => this.#batches().slice(0, limit)),
    markHandedOver: (batchIds, { requestId }) =>
      this.#call('markHandedOver', requestId, () => {
        for (const batchId of batchIds) this.#handedOver.add(batchId);
      }),
  };

  async #call<T>(method: Method, requestId: string, work: () => T): Promise<T> {
    this.requestIds.push(requestId);
    const fault = this.fault(method);
    if (fault === 'refused') throw new ResultRefused('the domain does not take it');
    if (fault === 'before') throw new Error('14 UNAVAILABLE: the domain is not there');
    this.#sweep();
    const answer = work();
    if (fault === 'after') throw new Error('14 UNAVAILABLE: the connection broke');
    return answer;
  }

  #begin({ deliveryId, attemptNumber }: AttemptToMake): AttemptBeginning {
    const row = this.rows.get(deliveryId);
    const isLeaseRunning = row?.leaseUntil !== undefined;
    if (row?.status !== 'PENDING' || row.attemptsBegun !== attemptNumber - 1 || isLeaseRunning) {
      return { refused: { delivery: row && toDelivery(row), isLeaseRunning } };
    }
    const leaseUntil = Date.now() + this.#settings.leaseMs;
    Object.assign(row, { attemptsBegun: attemptNumber, nextAttemptAt: undefined, leaseUntil });
    const body = {
      eventId: `${deliveryId} ${attemptNumber}`,
      eventType: 'user.updated',
      body: Buffer.from('{}'),
    };
    const target = { url: 'https://receiver.example/secret-path', signingSecrets: [Buffer.alloc(32)] };
    return { begun: { target, body, leaseExpiresAt: new Date(leaseUntil) } };
  }

  async #send({ eventId }: SendBody, signal: AbortSignal | undefined): Promise<AttemptReport> {
    const [deliveryId = '', number] = eventId.split(' ');
    const attempt = { deliveryId, attemptNumber: Number(number) };
    this.sent.push({ ...attempt, at: Date.now() });
    const answer = await this.receiver(attempt, signal);
    const isStatus = typeof answer === 'number';
    const refused = isStatus && answer >= 300 ? 'STATUS_REFUSED' : 'SUCCEEDED';
    return {
      startedAt: new Date(),
      durationMs: 1,
      outcome: isStatus ? refused : answer,
      httpStatus: isStatus ? answer : undefined,
      message: 'receiver.example said something secret',
      responseStart: Buffer.from('something secret'),
      retryAfterSeconds: undefined,
    };
  }

  #record(
    { deliveryId, attemptNumber }: AttemptToMake,
    { outcome }: AttemptReport,
  ): RetriedDelivery | undefined {
    const row = this.rows.get(deliveryId);
    if (!row) return undefined;
    if (outcome === 'SUCCEEDED') end(row, 'DELIVERED');
    else if (row.attemptsBegun === attemptNumber && row.leaseUntil !== undefined) this.#fail(row);
    return toDelivery(row);
  }

  #fail(row: Row): void {
    row.leaseUntil = undefined;
    if (row.attemptsBegun >= 3) end(row, 'EXHAUSTED');
    else row.nextAttemptAt = Date.now() + (this.#settings.delaysMs[row.attemptsBegun - 1] ?? 0);
  }

  #giveUp(deliveryId: string): RetriedDelivery[] {
    const row = this.rows.get(deliveryId);
    if (row?.status === 'PENDING') end(row, 'EXHAUSTED');
    return row ? [toDelivery(row)] : [];
  }

  /** As the domain does all the time, for the relay's claims. */
  #sweep(): void {
    for (const row of this.rows.values()) {
      if (row.leaseUntil === undefined || row.leaseUntil > Date.now()) continue;
      this.interrupted.push({ deliveryId: row.deliveryId, attemptNumber: row.attemptsBegun });
      this.#fail(row);
    }
  }

  #batches(): RetryBatch[] {
    const batchIds = new Set([...this.rows.values()].map(({ batchId }) => batchId));
    return [...batchIds]
      .filter((batchId) => !this.#handedOver.has(batchId))
      .map((batchId) => ({
        batchId,
        subscriptionId: `whs_of_${batchId}`,
        instanceIntegrationId: 'iin_1',
        eventTypes: ['user.created', 'user.updated'],
        deliveries: [...this.rows.values()].filter((row) => row.batchId === batchId).length,
      }));
  }
}

function end(row: Row, status: Row['status']): void {
  Object.assign(row, { status, leaseUntil: undefined, nextAttemptAt: undefined });
}

function toDelivery({ deliveryId, status, attemptsBegun, nextAttemptAt, leaseUntil }: Row): RetriedDelivery {
  return {
    deliveryId,
    status,
    attemptsBegun,
    nextAttemptAt: nextAttemptAt === undefined ? undefined : new Date(nextAttemptAt),
    leaseExpiresAt: leaseUntil === undefined ? undefined : new Date(leaseUntil),
  };
}
