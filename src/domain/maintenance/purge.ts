import type { Clock } from '../clock.js';

/** Rows that are over at some time. A session is over at its absolute limit, or when it was last seen too long ago. */
export type ExpiringKind =
  | 'session'
  | 'idle_session'
  | 'interaction'
  | 'authorization_code'
  | 'code_minute'
  | 'grant'
  | 'link'
  | 'email_change'
  | 'account_notice'
  | 'attempt_count'
  | 'idempotency_key'
  | 'audit_event'
  | 'signing_key'
  | 'api_key'
  | 'service_token'
  | 'delivery'
  | 'retry_batch'
  | 'event'
  | 'subscription'
  | 'subscription_secret';

export interface PurgeStore {
  /** In short transactions: removes at most `limit` rows of the kind that were over before the time given. */
  remove(kind: ExpiringKind, overBefore: number, limit: number): Promise<number>;
}

export interface Retention {
  /** How long a credential is kept after it was revoked, retired or expired, for those who look into an incident. */
  credentialsMs: number;
  /** How long a session goes on without a request. */
  sessionIdleMs: number;
  idempotencyMs: number;
  auditMs: number;
  /** How long events are kept after they happened, deliveries after they were made, and subscriptions after they were deleted. */
  eventsMs: number;
}

export interface PurgeReport {
  /** Only the kinds of which something went. */
  removed: Partial<Record<ExpiringKind, number>>;
  /** Whether another batch may find more. */
  more: boolean;
}

/** What is over is still told from what never was: for a day by who presents a code again, for an hour by a page that was left open. */
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** A platform that has not asked for them in so long mails them no more. */
const NOTICES_KEPT_MS = 90 * DAY_MS;

/** How long each kind stays after it is over. */
const KEPT_MS: Record<ExpiringKind, (retention: Retention) => number> = {
  session: () => 0,
  idle_session: ({ sessionIdleMs }) => sessionIdleMs,
  interaction: () => HOUR_MS,
  authorization_code: () => DAY_MS,
  code_minute: () => DAY_MS,
  grant: () => DAY_MS,
  link: () => DAY_MS,
  email_change: () => DAY_MS,
  account_notice: () => NOTICES_KEPT_MS,
  attempt_count: () => 0,
  idempotency_key: ({ idempotencyMs }) => idempotencyMs,
  audit_event: ({ auditMs }) => auditMs,
  signing_key: ({ credentialsMs }) => credentialsMs,
  api_key: ({ credentialsMs }) => credentialsMs,
  service_token: ({ credentialsMs }) => credentialsMs,
  // Deliveries before what they refer to.
  delivery: ({ eventsMs }) => eventsMs,
  retry_batch: ({ eventsMs }) => eventsMs,
  event: ({ eventsMs }) => eventsMs,
  subscription: ({ eventsMs }) => eventsMs,
  subscription_secret: () => 0,
};

/** Removes one bounded batch, over all kinds, of what is past its retention. Running it twice at once harms nothing. */
export async function purgeExpired(
  store: PurgeStore,
  retention: Retention,
  clock: Clock,
  limit: number,
): Promise<PurgeReport> {
  const now = clock();
  const removed: PurgeReport['removed'] = {};
  let left = limit;
  for (const [kind, keptMs] of Object.entries(KEPT_MS) as [ExpiringKind, (typeof KEPT_MS)[ExpiringKind]][]) {
    if (left === 0) {
      break;
    }
    const count = await store.remove(kind, now - keptMs(retention), left);
    if (count > 0) {
      removed[kind] = count;
    }
    left -= count;
  }
  return { removed, more: left === 0 };
}
