import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { KeyStatus } from '../../../domain/operator/lifetime.js';

/** The condition for a status at a time, equivalent to `statusOf` of the domain. Without a status, none. */
export function inStatus(status: KeyStatus | undefined, now: number): RawBuilder<SqlBool> {
  const conditions: Record<KeyStatus | 'any', RawBuilder<SqlBool>> = {
    revoked: sql`revoked_at is not null`,
    expired: sql`revoked_at is null and expires_at <= ${now}`,
    active: sql`revoked_at is null and (expires_at is null or expires_at > ${now})`,
    any: sql`1 = 1`,
  };
  return conditions[status ?? 'any'];
}
