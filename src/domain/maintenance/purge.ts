import type { Clock } from '../clock.js';

/** Rows that expire. A session expires at its absolute limit, or when it is idle for too long. */
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
  /** In short transactions: removes at most `limit` rows that expired before the given time. */
  remove(kind: ExpiringKind, overBefore: number, limit: number): Promise<number>;
}

export interface Retention {
  /** How long credentials are kept after they were revoked, retired or expired, to investigate incidents. */
  credentialsMs: number;
  /** The idle limit of sessions. */
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
}

/** Expired rows stay for a while, to tell a reused code or an old page from an invalid one. */
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** The platform no longer mails notices that are this old. */
const NOTICES_KEPT_MS = 90 * DAY_MS;

/** How long each kind is kept after it expired. */
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
  // Before the rows that deliveries refer to.
  delivery: ({ eventsMs }) => eventsMs,
  retry_batch: ({ eventsMs }) => eventsMs,
  event: ({ eventsMs }) => eventsMs,
  subscription: ({ eventsMs }) => eventsMs,
  subscription_secret: () => 0,
};

/** Removes one bounded batch of rows past their retention. Safe to run concurrently. */
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
