import {
  type PurgedCount,
  PurgedKind,
} from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import type { ExpiringKind, PurgeReport } from '../../domain/maintenance/purge.js';

const PURGED_KINDS: Record<ExpiringKind, PurgedKind> = {
  session: PurgedKind.SESSION,
  idle_session: PurgedKind.SESSION,
  interaction: PurgedKind.INTERACTION,
  authorization_code: PurgedKind.AUTHORIZATION_CODE,
  grant: PurgedKind.GRANT,
  link: PurgedKind.LINK,
  email_change: PurgedKind.LINK,
  account_notice: PurgedKind.ACCOUNT_NOTICE,
  integration_notice: PurgedKind.INTEGRATION_NOTICE,
  idempotency_key: PurgedKind.IDEMPOTENCY_KEY,
  audit_event: PurgedKind.AUDIT_EVENT,
  signing_key: PurgedKind.SIGNING_KEY,
  api_key: PurgedKind.API_KEY,
  service_token: PurgedKind.SERVICE_TOKEN,
  attempt_count: PurgedKind.ATTEMPT_COUNT,
  code_minute: PurgedKind.CODE_MINUTE,
  delivery: PurgedKind.DELIVERY,
  retry_batch: PurgedKind.RETRY_BATCH,
  event: PurgedKind.EVENT,
  subscription: PurgedKind.SUBSCRIPTION,
  subscription_secret: PurgedKind.SUBSCRIPTION_SECRET,
};

export function purgedCounts(removed: PurgeReport['removed']): PurgedCount[] {
  const counts = new Map<PurgedKind, number>();
  for (const [kind, count] of Object.entries(removed)) {
    const purged = PURGED_KINDS[kind as ExpiringKind];
    counts.set(purged, (counts.get(purged) ?? 0) + count);
  }
  return [...counts].map(([kind, count]) => ({ kind, count }));
}
