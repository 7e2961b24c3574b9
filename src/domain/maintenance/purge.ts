import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { Clock } from '../clock.js';

export interface PurgeStore {
  /** In short transactions: removes at most `limit` rows that expired before the given time. */
  remove(kind: ExpiringKind, overBefore: number, limit: number): Promise<number>;
  /**
   * Lets this run purge until `until`, by one conditional statement. Returns false if another run is active,
   * or if one has ended after `endedBy`.
   */
  begin(run: string, now: number, until: number, endedBy?: number): Promise<boolean>;
  end(run: string, now: number): Promise<void>;
  /** When the oldest row of each kind expired, of those that `remove` would remove; by index. */
  oldest(overBefore: Record<ExpiringKind, number>): Promise<Partial<Record<ExpiringKind, number>>>;
}

export interface Retention {
  /** How long ended credentials are kept; API keys, tokens and client secrets for at least this long. */
  credentialsMs: number;
  sessionIdleMs: number;
  idempotencyMs: number;
  auditMs: number;
  /** How long events, deliveries and deleted subscriptions are kept. */
  eventsMs: number;
}

export interface PurgeReport {
  /** Omits kinds without removals. */
  removed: Partial<Record<ExpiringKind, number>>;
  /** Whether another batch may find more. */
  more: boolean;
  /** Another run is active, or has ended within the given time, so this one removed nothing. */
  isLeftToOther: boolean;
}

interface PurgeBatch {
  limit: number;
  /** The name of the run. Without it, the batch ignores other runs. */
  run?: string | undefined;
  /** Begins only if no run has ended within this time. */
  unlessEndedWithinMs?: number | undefined;
  /** Called after each kind, so that its rows are counted even if the batch fails later. */
  onRemoved?: ((kind: ExpiringKind, rows: number) => void) | undefined;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Longer than a batch and the pause after it. A run that was killed delays the next one by this time. */
const RUN_LEASE_MS = 60_000;
/** The platform no longer mails notices that are this old. */
const NOTICES_KEPT_MS = 90 * DAY_MS;

/** How long each kind is kept after it expired: codes and pages, to tell used or old from invalid ones. */
const KEPT_MS = {
  session: () => 0,
  idle_session: ({ sessionIdleMs }) => sessionIdleMs,
  interaction: () => HOUR_MS,
  authorization_code: () => DAY_MS,
  code_minute: () => DAY_MS,
  grant: () => DAY_MS,
  link: () => DAY_MS,
  email_change: () => DAY_MS,
  account_notice: () => NOTICES_KEPT_MS,
  integration_notice: () => NOTICES_KEPT_MS,
  attempt_count: () => 0,
  idempotency_key: ({ idempotencyMs }) => idempotencyMs,
  audit_event: ({ auditMs }) => auditMs,
  signing_key: ({ credentialsMs }) => credentialsMs,
  // Audit records name them only by id, and only their labels say whose they were.
  api_key: ({ auditMs, credentialsMs }) => Math.max(auditMs, credentialsMs),
  service_token: ({ auditMs, credentialsMs }) => Math.max(auditMs, credentialsMs),
  // A restore suspends secrets, which an operator may resume.
  application_secret: ({ auditMs, credentialsMs }) => Math.max(auditMs, credentialsMs),
  // Before the rows that deliveries refer to.
  delivery: ({ eventsMs }) => eventsMs,
  retry_batch: ({ eventsMs }) => eventsMs,
  event: ({ eventsMs }) => eventsMs,
  subscription: ({ eventsMs }) => eventsMs,
  subscription_secret: () => 0,
} satisfies Record<string, (retention: Retention) => number>;

/** Rows that expire. A session expires at its absolute limit, or when it is idle for too long. */
export type ExpiringKind = keyof typeof KEPT_MS;

/** Rows that were over before this time may be removed for ever; undefined while none may. */
type RemovalTime = () => number | undefined;

export interface PurgeClocks {
  /** Of the runs. All nodes share it. */
  clock: Clock;
  removalTime: RemovalTime;
}

/**
 * Removes one bounded batch of rows past their retention. Safe to run concurrently. If it fails at one kind,
 * it removes the others first, in this batch and the next ones. A third failure ends the batch, as in an
 * outage: two kinds share a table, so one damaged table fails twice.
 */
export async function purgeExpired(
  store: PurgeStore,
  retention: Retention,
  { clock, removalTime }: PurgeClocks,
  { limit, run, unlessEndedWithinMs, onRemoved }: PurgeBatch,
): Promise<PurgeReport> {
  const removedAt = removalTime();
  if (removedAt === undefined) {
    // Of several domains, the one that is asked next may have the right time.
    throw new ServiceError(ErrorCode.UNAVAILABLE, 'The clocks of the domain and of its database are apart.');
  }
  const now = clock();
  const endedBy = unlessEndedWithinMs && now - unlessEndedWithinMs;
  if (run !== undefined && !(await store.begin(run, now, now + RUN_LEASE_MS, endedBy))) {
    return { removed: {}, more: false, isLeftToOther: true };
  }
  const removed: PurgeReport['removed'] = {};
  const failures: unknown[] = [];
  let left = limit;
  for (const [kind, overBefore] of Object.entries(ends(retention, removedAt)) as [ExpiringKind, number][]) {
    if (left === 0 || failures.length > 2) {
      break;
    }
    const count = await store.remove(kind, overBefore, left).catch((error) => {
      failures.push(error);
      return 0;
    });
    if (count > 0) {
      removed[kind] = count;
      onRemoved?.(kind, count);
    }
    left -= count;
  }
  const more = left === 0;
  if (failures.length > 0 && !more) {
    throw failures[0];
  }
  if (run !== undefined && !more) {
    await store.end(run, clock());
  }
  return { removed, more, isLeftToOther: false };
}

/** For how long the oldest row of each kind is past its retention; 0 without such a row. */
export async function purgeLags(
  store: Pick<PurgeStore, 'oldest'>,
  retention: Retention,
  clock: Clock,
): Promise<Record<ExpiringKind, number>> {
  const overBefore = ends(retention, clock());
  const oldest = await store.oldest(overBefore);
  return mapKinds((kind) => Math.max(0, overBefore[kind] - (oldest[kind] ?? overBefore[kind])));
}

/** Rows of a kind that expired before this time are past their retention. */
function ends(retention: Retention, now: number): Record<ExpiringKind, number> {
  return mapKinds((kind) => now - KEPT_MS[kind](retention));
}

function mapKinds(amountOf: (kind: ExpiringKind) => number): Record<ExpiringKind, number> {
  const kinds = Object.keys(KEPT_MS) as ExpiringKind[];
  return Object.fromEntries(kinds.map((kind) => [kind, amountOf(kind)])) as Record<ExpiringKind, number>;
}

/** Nodes may differ by less. With more, one of the clocks is wrong, and by it new rows may look old. */
const MOST_APART_MS = 5 * 60_000;

/** Called when the clocks begin to differ too much, and with undefined when they agree again. */
type OnDisagreement = (apartMs: number | undefined) => void;

/**
 * The earlier of two clocks, while they agree. What is removed does not come back, so neither a database
 * whose clock jumps ahead nor a wrong clock of this machine may decide alone.
 */
export function agreedTime(clock: Clock, machineClock: Clock, onDisagreement: OnDisagreement): RemovalTime {
  let isTold = false;
  return () => {
    const [there, here] = [clock(), machineClock()];
    const apartMs = Math.abs(there - here);
    const isApart = apartMs > MOST_APART_MS;
    if (isApart !== isTold) {
      isTold = isApart;
      onDisagreement(isApart ? apartMs : undefined);
    }
    return isApart ? undefined : Math.min(there, here);
  };
}
