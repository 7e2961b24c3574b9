import { sql } from 'kysely';
import { type Check, foundIn } from './check.js';

const SOON_MS = 14 * 86_400_000;
/** A credential that was not used for this long has probably been replaced. */
const USED_WITHIN_MS = 7 * 86_400_000;
const MOST = 100;

interface Expiring {
  kind: string;
  id: string;
  label: string;
  expires_at: number;
}

/** Reads small tables: one row per key, token or secret. */
export const credentialsLast: Check<{ now: number }> = {
  name: 'expiring-credentials',
  about: 'No API key, service token or client secret in use expires within 14 days.',
  severity: 'warning',
  remedy:
    'Rotate each with its owner before it expires: `integration key rotate`, `integration token rotate` or `integration app rotate-secret`. `integration expiring` lists all.',
  find: async (reader, { now }) => {
    const isSoon = sql`expires_at > ${now} and expires_at <= ${now + SOON_MS}
      and (last_used_at is null or last_used_at > ${now - USED_WITHIN_MS})`;
    const { rows } = await sql<Expiring>`
      select * from (
        select 'API key' as kind, id, label, expires_at from api_keys where revoked_at is null and ${isSoon}
        union all
        select 'service token' as kind, id, label, expires_at from service_tokens where revoked_at is null and ${isSoon}
        union all
        select 'client secret' as kind, id, application_id as label, expires_at from application_secrets where ${isSoon}
      ) as expiring
      order by expires_at limit ${MOST}
    `.execute(reader);
    return foundIn(
      rows.map(
        ({ kind, id, label, expires_at }) =>
          `${kind} ${id} (${label}) expires ${new Date(Number(expires_at)).toISOString().slice(0, 16)}Z`,
      ),
    );
  },
};
