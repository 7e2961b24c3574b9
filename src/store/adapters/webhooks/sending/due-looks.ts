import { sql } from 'kysely';
import type { SubscriptionId } from '../../../../../generated/ids.js';
import type { DueSubscription } from '../../../../domain/webhooks/sending/sending.js';
import type { Reader, Writer } from '../../../database.js';
import { isPostgres } from '../../statements/dialect.js';
import { keptPosted, keptStatement, plannedStatement } from '../../statements/kept-statement.js';
import { CLAIMABLE_AT, isPending, nextPending, WAITS_FOR_LATER } from '../dialect-words.js';

/** The pause after a complete look is this many times its duration; `#complete` bounds it. */
const PAUSE_FACTOR = 50;
const LONGEST_PAUSE_MS = 15_000;
/** Of a complete look, which may take longer than other statements: beside a long transaction it does. */
const LONGEST_LOOK_MS = 180_000;
/** Between its statements, as for other transactions. */
const LONGEST_IDLE_MS = 15_000;
/** After a failure before the look began, whose duration is then unknown. */
const PAUSE_AFTER_OUTAGE_MS = 1_000;

export const LOOK_LIMITS = {
  /** Beyond the round trip, a look takes a millisecond or two unless it reads thousands of dead rows. */
  slowMs: 10,
  /** A busy machine makes single looks slow. */
  mostSlowLooks: 10,
  /** After one look this slow, claims make no more complete looks. */
  farTooSlowMs: 1_000,
  /** The most subscriptions that claims know while looks are slow; if more are due, they take turns. */
  mostKnown: 1_000,
};

export type LookLimits = typeof LOOK_LIMITS;

/** Rows before the newest that are searched again: writes commit in any order, and dead rows cost little. */
const COMMITTED_LATE = 1_000;

/** Before these places, nothing of a subscription was due at the last look. */
interface Place {
  /** Of first attempts, by `seq`. */
  first: number;
  /** Of later attempts, by the time when they may be claimed; null if none was due. */
  later: number | null;
}

const FROM_START: Place = { first: 0, later: null };

interface DueRow {
  id: string;
  first: number | null;
  later: number | null;
}

/**
 * Jumps by the index from one subscription with pending deliveries to the next, reading one row of each: in
 * the first turn behind the named one, in the second from the start up to it.
 */
const dueSubscriptions = plannedStatement(
  (db, { after, now, limit }: { after: string; now: number; limit: number }) => sql<DueRow>`
    with recursive pending(id, turn) as (
      select ${nextPending(db, after)}, 1
      union all
      select ${nextPending(db, sql`coalesce(pending.id, '')`)}, case when pending.id is null then 2 else turn end
      from pending
      where case turn when 1 then pending.id is not null or ${after} > '' else pending.id <= ${after} end
    )
    select id, first, later from (
      select id, (
        select seq from deliveries where ${isPending(db)} and subscription_id = pending.id and attempts_begun < 1
        order by attempts_begun, seq limit 1
      ) as first, (
        select ${CLAIMABLE_AT} from deliveries
        where subscription_id = pending.id and ${WAITS_FOR_LATER} and ${CLAIMABLE_AT} <= ${now}
        order by ${CLAIMABLE_AT}, seq limit 1
      ) as later
      from pending
      where (turn = 1 or id <= ${after})
        and (select status from subscriptions where subscriptions.id = pending.id) = 'ACTIVE'
    ) as due
    where first is not null or later is not null
    limit ${limit}
  `,
);

/** PostgreSQL only. The scan of the index begins where the comparison of rows says. */
const firstOfKnown = plannedStatement(
  (db, { known }: { known: string }) => sql<Pick<DueRow, 'id' | 'first'>>`
    select id, (
      select seq from deliveries
      where ${isPending(db)} and subscription_id = known.id and attempts_begun < 1
        and (attempts_begun, seq) >= (0, known.place)
      order by attempts_begun, seq limit 1
    ) as first
    from json_to_recordset(${known}::json) as known(id text, place bigint)
    where (select status from subscriptions where subscriptions.id = known.id) = 'ACTIVE'
  `,
);

const active = keptStatement((db, { limit }: { limit: number }) =>
  db.selectFrom('subscriptions').where('status', '=', 'ACTIVE').orderBy('id').limit(limit).select('id'),
);

/** By the primary key, of which the last entry is seldom dead. */
const newest = keptStatement((db) =>
  db.selectFrom('deliveries').orderBy('seq', 'desc').limit(1).select('seq'),
);

/** PostgreSQL would walk over all open deliveries for later attempts, and sort what it finds. */
const withoutSort = keptPosted(
  // Plans of this transaction are not for others.
  () =>
    sql`select set_config('enable_sort', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)`,
);

/** The connection for long statements has no limits; a stalled process must not leave a transaction open. */
const limited = keptPosted(
  () => sql`
    select set_config('statement_timeout', ${sql.lit(String(LONGEST_LOOK_MS))}, true),
      set_config('idle_in_transaction_session_timeout', ${sql.lit(String(LONGEST_IDLE_MS))}, true)
  `,
);

/**
 * Looks for subscriptions with due attempts. On PostgreSQL, index entries of delivered rows stay while any
 * transaction is open that began before their end, such as that of a dump, and a complete look reads all of
 * them. When complete looks stay slow, they run beside the claims, for about a fiftieth of the time at first.
 * Claims then begin a little before the place where the last look found the first due attempt of each
 * subscription. They do not see deliveries committed far before these places, later attempts that became due
 * meanwhile, or new subscriptions: these wait for the next complete look.
 */
export class DueLooks {
  #isSlow = false;
  #slowLooks = 0;
  /** Measured when looks seem slow, because the server may be far away. */
  #roundTripMs = 0;
  #places = new Map<string, Place>();
  /** When the next complete look is due. */
  #completeAt = 0;
  #completing: Promise<void> | undefined;
  /** Where the next complete look continues, if the last one reached its limit; otherwise empty. */
  #completeFrom = '';

  constructor(
    private readonly beside: Reader,
    private readonly onFailed: (error: unknown) => void = () => undefined,
    private readonly limits = LOOK_LIMITS,
    private readonly elapsedMs: () => number = () => performance.now(),
    private readonly ping: (db: Reader) => Promise<unknown> = (db) => sql`select`.execute(db),
  ) {}

  /** Whether an attempt is due, as far as is known. */
  async any(db: Reader, now: number): Promise<boolean> {
    return (this.#isSlow ? await this.#known(db, now) : await this.#all(db, '', now, 1)).length > 0;
  }

  /** Subscriptions with a due attempt by id, after the named one and then from the first to that. */
  async round(db: Reader, after: string, now: number, limit: number): Promise<DueSubscription[]> {
    const rows = this.#isSlow
      ? rotated(await this.#known(db, now), after)
      : await this.#watched(db, after, now, limit);
    return rows
      .slice(0, limit)
      .map(({ id, later }) => ({ id: id as SubscriptionId, hasLater: later !== null }));
  }

  /** The same without a transaction, over one connection: waits for others would make looks seem slow. */
  roundBefore(reader: Reader, after: string, now: number, limit: number): Promise<DueSubscription[]> {
    return isPostgres(reader)
      ? reader.connection().execute((connection) => this.round(connection, after, now, limit))
      : this.round(reader, after, now, limit);
  }

  /** Before the searches of a claim in its transaction. */
  async prepare(db: Writer): Promise<void> {
    if (this.#isSlow) {
      await withoutSort(db, {});
    }
  }

  /** Where the search for due attempts of a subscription begins. */
  placeOf(id: string): Place {
    return this.#places.get(id) ?? FROM_START;
  }

  /** Notes that a claim found no later attempt from this place on, at this time. */
  noLaterFrom(id: string, place: Place, now: number): void {
    // Meanwhile a complete look may have found another place, or an attempt that becomes due after `now`.
    if (this.#places.get(id) === place && place.later !== null && place.later <= now) {
      this.#places.set(id, { ...place, later: null });
    }
  }

  /** Resolves when no complete look runs. */
  async settled(): Promise<void> {
    await this.#completing;
  }

  async #watched(db: Reader, after: string, now: number, limit: number): Promise<DueRow[]> {
    const startedAt = this.elapsedMs();
    const rows = await this.#all(db, after, now, limit);
    const tookMs = this.elapsedMs() - startedAt;
    this.#slowLooks = isPostgres(db) && this.#isSlowLook(tookMs) ? this.#slowLooks + 1 : 0;
    if (this.#slowLooks >= this.limits.mostSlowLooks) {
      this.#slowLooks = 0;
      await this.#measureRoundTrip(db);
      if (this.#isSlowLook(tookMs)) {
        this.#beginSlow(rows);
      }
    }
    return rows;
  }

  #isSlowLook(tookMs: number): boolean {
    this.#roundTripMs = Math.min(this.#roundTripMs, tookMs);
    return tookMs - this.#roundTripMs > this.limits.slowMs;
  }

  async #measureRoundTrip(db: Reader): Promise<void> {
    const startedAt = this.elapsedMs();
    await this.ping(db);
    this.#roundTripMs = this.elapsedMs() - startedAt;
  }

  /** Measures failed looks too: one that the server cancelled for its duration must not be repeated. */
  async #all(db: Reader, after: string, now: number, limit: number): Promise<DueRow[]> {
    const startedAt = performance.now();
    let found: DueRow[] = [];
    try {
      found = (await dueSubscriptions(db, { after, now, limit })).rows;
      return found;
    } finally {
      if (isPostgres(db) && performance.now() - startedAt > this.limits.farTooSlowMs) {
        this.#beginSlow(found);
      }
    }
  }

  /** Claims find at least these subscriptions until the first complete look has ended. */
  #beginSlow(found: readonly DueRow[]): void {
    if (!this.#isSlow) {
      this.#isSlow = true;
      this.#completeAt = 0;
      const hasFirst = found.filter(({ first }) => first !== null);
      this.#places = placesOf(hasFirst, 0);
    }
  }

  /** What is due from the places on, by id. Begins a complete look when it is time, without a wait. */
  async #known(db: Reader, now: number): Promise<DueRow[]> {
    if (this.elapsedMs() >= this.#completeAt) {
      this.#completing ??= this.#complete(now)
        .catch(this.onFailed)
        .finally(() => {
          this.#completing = undefined;
        });
    }
    const rows = await this.#firstOfKnown(db);
    return rows
      .map(({ id, first }) => ({ id, first, later: this.placeOf(id).later }))
      .filter(({ first, later }) => first !== null || later !== null)
      .sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** Uses a transaction of its own: a claim would wait for it, and fail with it. */
  async #complete(now: number): Promise<void> {
    const startedAt = this.elapsedMs();
    const { mostKnown } = this.limits;
    let last = 0;
    let hasLooked = false;
    try {
      await this.beside.transaction().execute(async (db) => {
        await withoutSort(db, {});
        await limited(db, {});
        const others = (await active(db, { limit: mostKnown })).rows.map(({ id }) => id);
        // Read before the look, which then sees every committed row up to this one.
        last = (await newest(db, {})).rows[0]?.seq ?? 0;
        // So claims find what is committed while the look runs, or after it has failed.
        this.#places = this.#withOthers(this.#places, others, last);
        await this.#measureRoundTrip(db);
        hasLooked = true;
        const lookedAt = this.elapsedMs();
        const { rows } = await dueSubscriptions(db, { after: this.#completeFrom, now, limit: mostKnown });
        this.#isSlow = this.#isSlowLook(this.elapsedMs() - lookedAt);
        this.#completeFrom = rows.length < mostKnown ? '' : (rows.at(-1) as DueRow).id;
        this.#places = this.#isSlow ? this.#withOthers(placesOf(rows, last), others, last) : new Map();
        this.#slowLooks = 0;
      });
    } catch (error) {
      await this.#firstOfKnown(this.beside, last);
      throw error;
    } finally {
      const endedAt = this.elapsedMs();
      const pauseMs = hasLooked ? PAUSE_FACTOR * (endedAt - startedAt) : PAUSE_AFTER_OUTAGE_MS;
      // No more than half of the time is spent on looks.
      this.#completeAt = endedAt + Math.min(pauseMs, Math.max(LONGEST_PAUSE_MS, endedAt - startedAt));
    }
  }

  /** Adds subscriptions, up to the limit, that are assumed to have nothing due up to the last row. */
  #withOthers(known: Map<string, Place>, others: readonly string[], last: number): Map<string, Place> {
    const places = new Map(known);
    for (const id of others) {
      if (places.size < this.limits.mostKnown && !places.has(id)) {
        places.set(id, { first: before(last), later: null });
      }
    }
    return places;
  }

  /**
   * Finds the first due attempt of each known subscription, and moves its place forward to it, or to `last`,
   * if given, where none is due, so that claims do not read more dead rows each time.
   */
  async #firstOfKnown(db: Reader, last?: number): Promise<Pick<DueRow, 'id' | 'first'>[]> {
    // A complete look that ends meanwhile replaces the places, and its places must stay as it found them.
    const places = this.#places;
    const known = [...places].map(([id, { first }]) => ({ id, place: first }));
    const { rows } = await firstOfKnown(db, { known: JSON.stringify(known) });
    for (const { id, first } of rows) {
      const place = places.get(id) as Place;
      const reached = before(first ?? last ?? 0);
      if (reached > place.first) {
        places.set(id, { ...place, first: reached });
      }
    }
    return rows;
  }
}

function before(seq: number): number {
  return Math.max(0, seq - COMMITTED_LATE);
}

function placesOf(found: readonly DueRow[], last: number): Map<string, Place> {
  return new Map(found.map(({ id, first, later }) => [id, { first: before(first ?? last), later }]));
}

function rotated(rows: readonly DueRow[], after: string): DueRow[] {
  return [...rows.filter(({ id }) => id > after), ...rows.filter(({ id }) => id <= after)];
}
