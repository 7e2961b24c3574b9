import { sql } from 'kysely';
import { purgeLags, type Retention } from '../../domain/maintenance/purge.js';
import { oldestExpired } from '../adapters/purge.js';
import { outboxOf } from '../adapters/webhooks/sending/outbox.js';
import { type CredentialKind, credentialsWhere } from '../copies/credentials.js';
import { type Check, foundIn, lengthOf } from './check.js';

/** Similar to the alert DeliveriesNotBegun: over one minute, for two minutes. */
const LATE_MS = 120_000;

export const deliveriesAreOnTime: Check<{ now: number }> = {
  name: 'oldest-delivery',
  about: `Deliveries get their first attempt within ${lengthOf(LATE_MS)}.`,
  severity: 'warning',
  remedy:
    'Check the worker (`/readyz/worker`, its log) and slow receivers: `integration delivery list --status pending`. The runbook of DeliveriesNotBegun has the steps.',
  find: async (reader, { now }) => {
    const { oldest } = await outboxOf(reader);
    const untried = oldest.filter(({ stage, isFailing }) => stage === 'first' && !isFailing);
    const ages = untried.map(({ since }) => now - since);
    const age = Math.max(0, ...ages);
    return foundIn(
      age > LATE_MS ? [`the oldest delivery without an attempt is ${lengthOf(age)} old`] : [],
      ages.length > 0 ? `The oldest waits for ${lengthOf(age)}.` : 'None waits.',
    );
  },
};

/** The limit of the alert PurgeBehind; the interval of the purge is added. */
const PURGE_LATE_MS = 6 * 3_600_000;

export const purgeKeepsUp: Check<{ now: number; retention: Retention; purgeEveryMs: number }> = {
  name: 'purge',
  about: 'The purge has removed what is past its retention.',
  severity: 'warning',
  remedy:
    'Check the worker, which starts the purge, and its schedule in Temporal. The runbook of PurgeBehind has the steps.',
  find: async (reader, { now, retention, purgeEveryMs }) => {
    const oldest = {
      oldest: (overBefore: Parameters<typeof oldestExpired>[1]) => oldestExpired(reader, overBefore),
    };
    const lags = Object.entries(await purgeLags(oldest, retention, () => now));
    const late = lags.filter(([, lagMs]) => lagMs > purgeEveryMs + PURGE_LATE_MS);
    return foundIn(
      late.map(
        ([kind, lagMs]) =>
          `the oldest ${kind.replaceAll('_', ' ')} should have been removed ${lengthOf(lagMs)} ago`,
      ),
      `The greatest delay is ${lengthOf(Math.max(...lags.map(([, lagMs]) => lagMs)))}.`,
    );
  },
};

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
