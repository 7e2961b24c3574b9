import type { Clock } from '../clock.js';

export type CredentialKind = 'api_key' | 'service_token' | 'client_secret' | 'webhook_secret';

/** A valid key, token or secret with an expiry. */
export interface ExpiringCredential {
  kind: CredentialKind;
  id: string;
  /** The integration, application or subscription that it belongs to; the right of a service token. */
  of: string;
  expiresAt: number;
}

/** An active subscription without a success since then. */
interface FailingSubscription {
  id: string;
  failingSince: number;
}

export interface FailureWarning extends FailingSubscription {
  tenths: Tenths;
  disabledFrom: number;
}

/** Of the time after which the service disables a failing subscription. */
export type Tenths = 5 | 9;

export interface ExpiryStore {
  /** Those that expire after `after` and at `until` or earlier, soonest first. */
  expiring(after: number, until: number, limit: number): Promise<ExpiringCredential[]>;
  /**
   * When the next of each kind expires, and the earliest `failing_since` after the given time. Subscriptions
   * that have failed for longer are disabled when a delivery is exhausted, at an unknown time.
   */
  next(now: number, failingAfter: number): Promise<Partial<Record<CredentialKind | 'failing_since', number>>>;
  /** Those of `expiring` that live longer than these days and have no warning at these or fewer days. */
  toWarnOf(after: number, until: number, days: number, limit: number): Promise<ExpiringCredential[]>;
  /** Records the warning. Of several nodes that record one warning, one succeeds. */
  noteWarning(credential: ExpiringCredential, days: number): Promise<boolean>;
  /** Deletes warnings about credentials that expired before then. */
  forgetWarnings(before: number): Promise<void>;
  /** Subscriptions that have failed since then or longer and have no warning at this number of tenths. */
  failing(since: number, tenths: Tenths, limit: number): Promise<FailingSubscription[]>;
  /**
   * Records the warning, and writes the notice for the contact of the integration, if it has one. Undefined
   * if another node was first, or the subscription has succeeded since.
   */
  warnOfFailure(warning: FailureWarning, now: number): Promise<{ hasContact: boolean } | undefined>;
}

interface ExpiryListener {
  onExpiring(credential: ExpiringCredential): void;
  onFailing(warning: FailureWarning, hasContact: boolean): void;
}

const DAY_MS = 86_400_000;
/** Days before the expiry of a credential whose lifetime is longer. */
const WARNED_AT_DAYS = [1, 7, 30];
const WARNED_AT_TENTHS: readonly Tenths[] = [9, 5];
const AT_ONCE = 100;

/** Of all nodes, one warns of each credential and each failing subscription, once at each threshold. */
export async function warnOfExpiry(
  store: ExpiryStore,
  { onExpiring, onFailing }: ExpiryListener,
  { clock, failingLimitMs }: { clock: Clock; failingLimitMs: number },
): Promise<void> {
  const now = clock();
  for (const [index, days] of WARNED_AT_DAYS.entries()) {
    const after = now + (WARNED_AT_DAYS[index - 1] ?? 0) * DAY_MS;
    for (const credential of await store.toWarnOf(after, now + days * DAY_MS, days, AT_ONCE)) {
      if (await store.noteWarning(credential, days)) {
        onExpiring(credential);
      }
    }
  }
  await store.forgetWarnings(now - DAY_MS);
  for (const tenths of WARNED_AT_TENTHS) {
    const since = now - Math.ceil((failingLimitMs * tenths) / 10);
    for (const subscription of await store.failing(since, tenths, AT_ONCE)) {
      const warning = { ...subscription, tenths, disabledFrom: subscription.failingSince + failingLimitMs };
      const given = await store.warnOfFailure(warning, now);
      if (given) {
        onFailing(warning, given.hasContact);
      }
    }
  }
}

/** When the next of each kind expires; for subscriptions, when the next one is disabled. */
export async function nextExpiries(
  store: Pick<ExpiryStore, 'next'>,
  { clock, failingLimitMs }: { clock: Clock; failingLimitMs: number },
): Promise<Partial<Record<CredentialKind | 'subscription', number>>> {
  const now = clock();
  const { failing_since, ...next } = await store.next(now, now - failingLimitMs);
  return { ...next, ...(failing_since !== undefined && { subscription: failing_since + failingLimitMs }) };
}
