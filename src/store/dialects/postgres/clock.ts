import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../schema.js';

const COMPARE_EVERY_MS = 10_000;
/** Edges use the clocks of their machines, so operators should know of larger differences. */
const MOST_APART_MS = 5_000;

/** Called when this machine's clock begins to differ too much, and with undefined when it agrees again. */
export type OnClocksApart = (apartMs: number | undefined) => void;

/**
 * The time of PostgreSQL, so that all nodes agree how old a code, a lease or an attempt is. Between
 * comparisons it advances with the monotonic clock, which has no steps.
 */
export class PostgresClock {
  #aheadOfMonotonic = 0;
  #isKnown = false;
  #isApart = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly asking: Kysely<Schema>,
    private readonly onApart: OnClocksApart = () => undefined,
  ) {}

  readonly now = (): number => Math.floor(performance.now() + this.#aheadOfMonotonic);

  async start(): Promise<void> {
    await this.#compare();
    // The first comparison is inexact if its query waited for a connection.
    await this.#compare();
    // Without an answer the clock continues; other statements report the failure.
    const compare = () => void this.#compare().catch(() => undefined);
    this.#timer = setInterval(compare, COMPARE_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * The server read its clock between query and answer. A time between these two bounds is kept. The names
   * have their schema: the search path of the role may begin with another one, which has its own.
   */
  async #compare(): Promise<void> {
    const askedAt = performance.now();
    const { rows } = await sql<{ at: number }>`
      select cast(
        extract(epoch from pg_catalog.clock_timestamp()) operator(pg_catalog.*) 1000 as double precision
      ) as at
    `.execute(this.asking);
    const at = Number(rows[0]?.at);
    const [least, most] = [at - performance.now(), at - askedAt];
    const known = this.#isKnown ? this.#aheadOfMonotonic : (least + most) / 2;
    this.#aheadOfMonotonic = Math.min(Math.max(known, least), most);
    this.#isKnown = true;
    this.#tell(Math.abs(this.now() - Date.now()));
  }

  #tell(apartMs: number): void {
    const isApart = apartMs > MOST_APART_MS;
    if (isApart !== this.#isApart) {
      this.#isApart = isApart;
      this.onApart(isApart ? apartMs : undefined);
    }
  }
}
