import type { Change, Changes } from './changes.js';
import { ApiError, ConnectionError, TimeoutError } from './errors.js';
import type { Gateway } from './gateway.js';
import type { ChangesDigest } from './models.js';
import { checkNumbers, DEFAULT_RETRY, pause, type RetryPolicy, timerMs } from './retries.js';
import type { Store, StoredDigest } from './stores.js';

/** The entities of a client that a store and the gateway do not agree on. */
export interface Difference {
  readonly clientId: string;
  readonly type: string;
  /** What the gateway has. */
  readonly count: number;
  readonly digest: number;
  /** What the store has. */
  readonly storedCount: number;
  readonly storedDigest: number;
}

export interface SyncOptions {
  /** How long the gateway may hold a read until something changes, 0 to 25. Default: 25. */
  waitSeconds?: number | undefined;
  /**
   * The least time between two reads that find nothing. Default: 1, or 60 if `waitSeconds` is 0. After a read
   * that finds something, and after `wake`, it is 1 at most.
   */
  pauseSeconds?: number | undefined;
  /** How long after a comparison with the gateway's digests the next one begins. Default: 3600. */
  compareEverySeconds?: number | undefined;
  /**
   * Called when changes are stored. Not a feed: it is told neither of removals that reading all again finds,
   * nor, after an end of the program, of what was stored just before. The store has both. The sync awaits
   * this function and the others: an error of theirs ends it, unless it is one of the SDK that may pass.
   */
  onChanges?: ((changes: readonly Change[]) => unknown) | undefined;
  /** Called when the store differs from the gateway, before all is read again. */
  onDifference?: ((differences: readonly Difference[]) => unknown) | undefined;
  /** Called when a comparison proved nothing, because these clients kept changing. */
  onUndecided?: ((clientIds: readonly string[]) => unknown) | undefined;
  /** Called when a read has failed in spite of its retries, before it is tried again. */
  onError?: ((error: Error) => unknown) | undefined;
}

type Signal = AbortSignal | undefined;

const MS_PER_SECOND = 1_000;
/** Where something changes all the time, reads at once would use up the rate limit of the integration. */
const LEAST_PAUSE_SECONDS = 1;
const LONGEST_PAUSE_MS = 60_000;
const LONGEST_RETRY_AFTER_MS = 3_600_000;
/** A digest is a request for each client: those of all at once would use up the rate limit too. */
const MOST_CLIENTS_IN_SLICE = 200;
const SLICE_EVERY_MS = 60_000;
/** The message of SQLite, over each library, while another program reads or writes the file. */
const LOCKED = 'database is locked';
/** How often a client that keeps changing is compared again. */
const MOST_COMPARISONS = 5;
/** Continues the doubling of the pauses between the retries of a read. */
const FIRST_DOUBLINGS = 3;
const NONE = { count: 0, digest: 0 };

/**
 * Keeps a store equal to what the gateway shows of an instance. Only the store has state: however a sync
 * ends, a new one with the same store continues. Made by `gateway.sync(…)`.
 */
export class Sync {
  readonly #gateway: Gateway;
  readonly #id: string;
  readonly #store: Store;
  readonly #options: SyncOptions;
  readonly #retry: RetryPolicy;
  /** The next read begins the sequence anew; the stored entities stay until its end. */
  #isAnew = false;
  /** The store has everything that existed at the last read. */
  #isComplete = false;
  /** When the last comparison ended. */
  #comparedAt = Number.NEGATIVE_INFINITY;
  /** The clients that a comparison, which goes over them in slices, has not compared yet. */
  #toCompare = new Set<string>();
  #nextSliceAt = Number.NEGATIVE_INFINITY;
  /** When the last round began. */
  #beganAt = Number.NEGATIVE_INFINITY;
  #isWoken = false;
  /** Whether a call of the store is under way, or the latest one failed. */
  #isAtStore = false;
  #endPause: () => void = () => undefined;

  constructor(
    gateway: Gateway,
    instanceIntegrationId: string,
    store: Store,
    options: SyncOptions,
    retry: RetryPolicy,
  ) {
    const { waitSeconds, pauseSeconds, compareEverySeconds } = options;
    checkNumbers({ waitSeconds, pauseSeconds, compareEverySeconds });
    this.#gateway = gateway;
    this.#id = instanceIntegrationId;
    this.#store = store;
    this.#options = options;
    this.#retry = retry;
  }

  /**
   * Loads what the store lacks, then follows until the signal ends it. Failures that may pass, and a file
   * that another program has locked, are waited out without limit. Throws other failures, such as an unknown
   * API key, and other errors of the store.
   */
  async run({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    for (let failures = 0; !signal?.aborted; ) {
      try {
        await this.#round(signal);
        failures = 0;
      } catch (error) {
        if (signal?.aborted) {
          return;
        }
        const pauseMs = this.#pauseAfterMs(error, failures);
        failures += 1;
        await this.#options.onError?.(error as Error);
        // Not ended by a wake: webhooks arrive also while the gateway is overloaded.
        await pause(pauseMs, signal).catch(() => undefined);
      }
    }
  }

  /**
   * Reads what the store lacks, compares with the gateway's digests if that is due, and returns. With more
   * than 200 clients it takes a minute for each further 200.
   */
  async catchUp({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    await this.#readAndCompare(0, signal);
    while (this.#toCompare.size > 0) {
      await pause(Math.max(0, this.#nextSliceAt - performance.now()), signal);
      await this.#readAndCompare(0, signal);
    }
  }

  /** Ends a pause, so that the next read is within a second: call it when a webhook arrives. */
  wake(): void {
    this.#isWoken = true;
    this.#endPause();
  }

  async #round(signal: Signal): Promise<void> {
    const { waitSeconds = 25, pauseSeconds = waitSeconds > 0 ? 1 : 60 } = this.#options;
    const leastSeconds = Math.min(LEAST_PAUSE_SECONDS, pauseSeconds);
    await pause(Math.max(0, this.#beganAt + leastSeconds * MS_PER_SECOND - performance.now()), signal);
    this.#beganAt = performance.now();
    const changed = await this.#readAndCompare(waitSeconds, signal);
    if (changed.size === 0) {
      const sliceAt = this.#toCompare.size > 0 ? this.#nextSliceAt : Number.POSITIVE_INFINITY;
      const nextAt = Math.min(this.#beganAt + pauseSeconds * MS_PER_SECOND, sliceAt);
      await this.#pause(nextAt - performance.now(), signal);
    }
  }

  /** Returns the clients of which something changed. */
  async #readAndCompare(waitSeconds: number, signal: Signal): Promise<Set<string>> {
    const changed = await this.#readToEnd(waitSeconds, signal);
    if (this.#isToCompare()) {
      await this.#compareSlice(signal);
    }
    return changed;
  }

  /** Returns the clients of which something changed. */
  async #readToEnd(waitSeconds: number, signal: Signal): Promise<Set<string>> {
    const changed = new Set<string>();
    for (let hasMore = true; hasMore; ) {
      const page = await this.#readPage(waitSeconds, signal);
      for (const { clientId } of page.items) {
        changed.add(clientId);
      }
      hasMore = page.hasMore;
    }
    return changed;
  }

  async #readPage(waitSeconds: number, signal: Signal): Promise<Pick<Changes, 'items' | 'hasMore'>> {
    const after = this.#isAnew ? null : await this.#ask((store) => store.cursor());
    const page = await this.#changesAfter(after, waitSeconds, signal);
    if (page === undefined) {
      this.#beginAnew();
      return { items: [], hasMore: true };
    }
    const { items: changes, cursor, hasMore } = page;
    if (changes.length > 0 || !this.#isComplete) {
      const batch = { changes, after, cursor, isFirst: after === null, isLast: !hasMore };
      await this.#ask((store) => store.apply(batch));
    }
    this.#isAnew = false;
    this.#isComplete = !hasMore;
    if (changes.length > 0) {
      await this.#options.onChanges?.(changes);
    }
    return page;
  }

  async #ask<T>(ask: (store: Store) => Promise<T> | T): Promise<T> {
    this.#isAtStore = true;
    const answer = await ask(this.#store);
    this.#isAtStore = false;
    return answer;
  }

  /** Undefined if the cursor has expired. */
  async #changesAfter(after: string | null, wait: number, signal: Signal): Promise<Changes | undefined> {
    const waitSeconds = this.#isComplete ? wait : 0;
    try {
      return await this.#gateway.listChanges(this.#id, { after, waitSeconds, signal });
    } catch (error) {
      if (after !== null && error instanceof ApiError && error.code === 'cursor_expired') {
        return undefined;
      }
      throw error;
    }
  }

  #beginAnew(): void {
    this.#isAnew = true;
    this.#isComplete = false;
  }

  #isToCompare(): boolean {
    if (this.#toCompare.size > 0) {
      return performance.now() >= this.#nextSliceAt;
    }
    const { compareEverySeconds = 3_600 } = this.#options;
    return performance.now() - this.#comparedAt >= compareEverySeconds * MS_PER_SECOND;
  }

  /** After a failure, the clients of the slice that were not equal yet are in the next slice. */
  async #compareSlice(signal: Signal): Promise<void> {
    this.#nextSliceAt = performance.now() + SLICE_EVERY_MS;
    if (this.#toCompare.size === 0) {
      this.#toCompare = await this.#clients(signal);
    }
    const slice = [...this.#toCompare].slice(0, MOST_CLIENTS_IN_SLICE);
    if (await this.#reportDifferences(slice, signal)) {
      this.#beginAnew();
      await this.#readToEnd(0, signal);
      // Differences that remain are reported; the next comparison tries again.
      const unequal = slice.filter((clientId) => this.#toCompare.has(clientId));
      await this.#reportDifferences(unequal, signal);
    }
    for (const clientId of slice) {
      this.#toCompare.delete(clientId);
    }
    if (this.#toCompare.size === 0) {
      this.#comparedAt = performance.now();
    }
  }

  async #reportDifferences(clientIds: readonly string[], signal: Signal): Promise<boolean> {
    const differences = await this.#differences(clientIds, signal);
    if (differences.length > 0) {
      await this.#options.onDifference?.(differences);
    }
    return differences.length > 0;
  }

  /**
   * A difference is certain if two comparisons find it, and no change of the client is read between them. One
   * comparison is not enough: the digest may count a change that cannot be read yet.
   */
  async #differences(clientIds: readonly string[], signal: Signal): Promise<Difference[]> {
    const { waitSeconds = 25 } = this.#options;
    let found = await this.#compare(clientIds, signal);
    for (let count = 1; found.length > 0 && count < MOST_COMPARISONS; count += 1) {
      const changed = await this.#readToEnd(waitSeconds, signal);
      const again = await this.#compare(new Set(found.map(({ clientId }) => clientId)), signal);
      const certain = again.filter(
        (one) => !changed.has(one.clientId) && found.some((before) => isSame(before, one)),
      );
      if (certain.length > 0) {
        return certain;
      }
      found = again;
    }
    if (found.length > 0) {
      await this.#options.onUndecided?.([...new Set(found.map(({ clientId }) => clientId))]);
    }
    return [];
  }

  async #compare(clientIds: Iterable<string>, signal: Signal): Promise<Difference[]> {
    const stored = await this.#ask((store) => store.digests());
    const differences: Difference[] = [];
    for (const clientId of clientIds) {
      const own = stored.filter((digest) => digest.clientId === clientId);
      const found = differencesOf(clientId, await this.#digestOf(clientId, signal), own);
      if (found.length === 0) {
        this.#toCompare.delete(clientId);
      }
      differences.push(...found);
    }
    return differences;
  }

  async #clients(signal: Signal): Promise<Set<string>> {
    const present = await this.#gateway.listClients(this.#id, { signal });
    const stored = await this.#ask((store) => store.digests());
    return new Set([...present.map(({ id }) => id), ...stored.map(({ clientId }) => clientId)]);
  }

  async #digestOf(clientId: string, signal: Signal): Promise<ChangesDigest['entities']> {
    try {
      return (await this.#gateway.getChangesDigest(this.#id, clientId, { signal })).entities;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'client_not_found') {
        return [];
      }
      throw error;
    }
  }

  /** Throws errors that would not pass. */
  #pauseAfterMs(error: unknown, failures: number): number {
    // Only of the store: the changes given to a function of the program would be lost.
    const isLocked = this.#isAtStore && error instanceof Error && error.message.includes(LOCKED);
    if (!isLocked && !mayPass(error)) {
      throw error;
    }
    // Pauses also if retries are configured without a pause: a lasting failure would keep the processor busy.
    const baseDelayMs = this.#retry.baseDelayMs || DEFAULT_RETRY.baseDelayMs;
    const longest = Math.min(LONGEST_PAUSE_MS, baseDelayMs * 2 ** (failures + FIRST_DOUBLINGS));
    const askedMs = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * MS_PER_SECOND : 0;
    const asked = Math.min(LONGEST_RETRY_AFTER_MS, askedMs) * (1 + Math.random() / 10);
    return Math.max(asked, longest * (0.5 + Math.random() / 2));
  }

  async #pause(pauseMs: number, signal: Signal): Promise<void> {
    if (pauseMs > 0 && !this.#isWoken && !signal?.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timerMs(pauseMs));
        this.#endPause = () => {
          clearTimeout(timer);
          resolve();
        };
        signal?.addEventListener('abort', this.#endPause, { once: true });
      });
      signal?.removeEventListener('abort', this.#endPause);
    }
    this.#isWoken = false;
  }
}

function isSame(one: Difference, other: Difference): boolean {
  return (
    one.clientId === other.clientId &&
    one.type === other.type &&
    one.count === other.count &&
    one.digest === other.digest
  );
}

function mayPass(error: unknown): boolean {
  if (error instanceof ApiError) {
    return [408, 429].includes(error.status) || error.status >= 500 || error.code === 'unexpected_response';
  }
  return error instanceof ConnectionError || error instanceof TimeoutError;
}

function differencesOf(
  clientId: string,
  expected: ChangesDigest['entities'],
  stored: readonly StoredDigest[],
): Difference[] {
  const types = new Set([...expected, ...stored].map(({ type }) => type));
  return [...types]
    .map((type) => {
      const { count, digest } = expected.find((one) => one.type === type) ?? NONE;
      const own = stored.find((one) => one.type === type) ?? NONE;
      return { clientId, type, count, digest, storedCount: own.count, storedDigest: own.digest };
    })
    .filter((one) => one.count !== one.storedCount || one.digest !== one.storedDigest);
}
