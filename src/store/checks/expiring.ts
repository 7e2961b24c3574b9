import { sql } from 'kysely';
import { type CredentialKind, credentialsWhere } from '../copies/credentials.js';
import { type Check, foundIn } from './check.js';

const SOON_MS = 14 * 86_400_000;
/** A credential that was not used for this long has probably been replaced. */
const USED_WITHIN_MS = 7 * 86_400_000;
const NAMES: Record<CredentialKind, string> = {
  api_key: 'API key',
  service_token: 'service token',
  client_secret: 'client secret',
};

/** Reads small tables: one row per key, token or secret. */
export const noCredentialExpiresSoon: Check<{ now: number }> = {
  name: 'expiring-credentials',
  about: 'No API key, service token or client secret in use expires within 14 days.',
  severity: 'warning',
  remedy:
    'Rotate each with its owner before it expires: `integration key rotate`, `integration token rotate` or `integration app rotate-secret`. `integration expiring` lists all.',
  find: async (reader, { now }) => {
    const isSoon = sql`expires_at > ${now} and expires_at <= ${now + SOON_MS}
      and (last_used_at is null or last_used_at > ${now - USED_WITHIN_MS})`;
    const soon = await credentialsWhere(reader, isSoon);
    soon.sort((one, other) => Number(one.expiresAt) - Number(other.expiresAt));
    return foundIn(
      soon.map(
        ({ kind, id, label, of, expiresAt }) =>
          `${NAMES[kind]} ${id} (${label || of}) expires ${new Date(Number(expiresAt)).toISOString().slice(0, 16)}Z`,
      ),
    );
  },
};
