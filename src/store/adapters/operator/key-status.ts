import { type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import type { KeyStatus } from '../../../domain/operator/lifetime.js';

/** The condition for a status at a time, equivalent to `statusOf` of the domain. */
export function inStatus(status: KeyStatus, now: number): ExpressionWrapper<never, never, SqlBool> {
  const conditions: Record<KeyStatus, ReturnType<typeof sql<SqlBool>>> = {
    revoked: sql`revoked_at is not null`,
    expired: sql`revoked_at is null and expires_at <= ${now}`,
    active: sql`revoked_at is null and (expires_at is null or expires_at > ${now})`,
  };
  return conditions[status] as unknown as ExpressionWrapper<never, never, SqlBool>;
}
