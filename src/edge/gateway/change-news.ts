import { setTimeout as sleep } from 'node:timers/promises';
import type { WatchChangesResponse } from '../../../generated/proto/integration/directory/v1/directory.js';

/** The stream is closed after this time without a waiting request. */
const IDLE_MS = 60_000;
/** How long requests wait for the stream to open, and the pause before a broken stream is opened again. */
const PATIENCE_MS = 1_000;
/** Instances whose last change is remembered. */
const MOST_REMEMBERED = 10_000;

type Waited = 'changed' | 'over' | 'ended';

/** Tells the requests that wait for a change. One stream of the domain serves all of them. */
export class ChangeNews {
  readonly #waiting = new Map<string, Set<() => void>>();
  /** The count at the last change of an instance. */
  readonly #changedAt = new Map<string, number>();
  /** Before this count, any instance may have changed. */
  #knownSince = 0;
  #count = 0;
  #stream: AbortController | undefined;
  #isOpen: Promise<void> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `watch` opens the stream of the domain. */
  constructor(private readonly watch: (signal: AbortSignal) => AsyncIterable<WatchChangesResponse>) {}

  /**
   * Returns the count for `ofInstance`. Call it before the read: later changes end the wait of `ofInstance`.
   */
  async listen(): Promise<number> {
    if (!this.#isClosed) {
      this.#stream ??= this.#begin();
      this.#idle?.refresh();
      await this.#isOpen;
    }
    return this.#count;
  }

  /**
   * Resolves with 'changed' if the instance has changed since `count`, or may have, and with 'over' after the
   * time: then the caller reads again. After 'ended', it need not.
   */
  async ofInstance(id: string, count: number, timeoutMs: number, left: AbortSignal): Promise<Waited> {
    if (this.#isClosed || left.aborted) {
      return 'ended';
    }
    if (count < this.#knownSince || (this.#changedAt.get(id) ?? -1) > count) {
      return 'changed';
    }
    return new Promise((resolve) => {
      const end = (waited: Waited) => {
        clearTimeout(timer);
        left.removeEventListener('abort', leave);
        this.#waitingFor(id).delete(tell);
        if (this.#waitingFor(id).size === 0) {
          this.#waiting.delete(id);
        }
        this.#idle?.refresh();
        resolve(waited);
      };
      const tell = () => end(this.#isClosed ? 'ended' : 'changed');
      const leave = () => end('ended');
      const timer = setTimeout(() => end('over'), timeoutMs);
      left.addEventListener('abort', leave);
      this.#waitingFor(id).add(tell);
    });
  }

  /** Ends all waits. */
  close(): void {
    this.#isClosed = true;
    this.#stream?.abort();
    this.#tellAll();
    // Last, because each wait that ends starts it again.
    clearTimeout(this.#idle);
  }

  #waitingFor(id: string): Set<() => void> {
    const present = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, present);
    return present;
  }

  #begin(): AbortController {
    const stream = new AbortController();
    this.#idle = setTimeout(() => this.#endIfIdle(stream), IDLE_MS).unref();
    void this.#follow(stream.signal);
    return stream;
  }

  #endIfIdle(stream: AbortController): void {
    if (this.#waiting.size > 0) {
      this.#idle?.refresh();
      return;
    }
    this.#stream = undefined;
    stream.abort();
  }

  /** Opens the stream again whenever it breaks. */
  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let open: () => void = () => undefined;
      this.#isOpen = new Promise((resolve) => {
        open = resolve;
      });
      const patience = setTimeout(open, PATIENCE_MS);
      try {
        let isFirst = true;
        for await (const { instanceIds } of this.watch(signal)) {
          if (isFirst) {
            this.#noteUnknown();
          }
          isFirst = false;
          this.#note(instanceIds);
          open();
        }
      } catch {
        // The domain is away. Requests learn it from their own reads.
      }
      clearTimeout(patience);
      await sleep(PATIENCE_MS, undefined, { signal, ref: false }).catch(() => undefined);
      open();
    }
  }

  /** What changed before the stream was open is unknown, so every request looks again. */
  #noteUnknown(): void {
    this.#count += 1;
    this.#knownSince = this.#count;
    this.#changedAt.clear();
    this.#tellAll();
  }

  #note(instanceIds: readonly string[]): void {
    if (this.#changedAt.size + instanceIds.length > MOST_REMEMBERED) {
      this.#noteUnknown();
    }
    this.#count += 1;
    for (const id of instanceIds) {
      this.#changedAt.set(id, this.#count);
      for (const tell of [...(this.#waiting.get(id) ?? [])]) {
        tell();
      }
    }
  }

  #tellAll(): void {
    for (const waiting of [...this.#waiting.values()]) {
      for (const tell of [...waiting]) {
        tell();
      }
    }
  }
}
