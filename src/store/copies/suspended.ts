import { sql } from 'kysely';
import type { SubscriptionId } from '../../../generated/ids.js';
import type { Actor } from '../../domain/operator/audit.js';
import { subscriptionDeliveryRows } from '../adapters/webhooks/subscriptions/deliveries.js';
import { subscriptionRows } from '../adapters/webhooks/subscriptions/rows.js';
import type { Reader, Writer } from '../database.js';
import { CopyChanges } from './copy-changes.js';
import { CREDENTIALS, type Credential, type CredentialKind, credentialKinds, setEnd } from './credentials.js';
import type { OpenedDatabase } from './open-copy.js';

/** A credential or a subscription that a restore suspended and that has not been changed since. */
export interface Suspended extends Pick<Credential, 'id' | 'of' | 'label' | 'lastUsedAt'> {
  kind: CredentialKind | 'subscription';
  /** The time of the restore. */
  since: number;
  /** The expiry before the restore. */
  expiresAt: number | null;
}

export interface Resumed extends Suspended {
  /** For a subscription: the time of the oldest event whose delivery is held. */
  heldSince: number | null;
}

/** Finds rows whose expiry (or time of disabling) is the time of their `suspended` audit record. */
export async function suspendedIn(reader: Reader | Writer): Promise<Suspended[]> {
  const found: Suspended[] = [];
  for (const kind of credentialKinds) {
    const { table, of, label, isRevocable } = CREDENTIALS[kind];
    const { rows } = await sql<Omit<Suspended, 'kind' | 'expiresAt'> & { attributes: string }>`
      select item.id, item.${sql.ref(of)} as "of", ${label} as label, item.last_used_at as "lastUsedAt",
        record.created_at as since, record.attributes
      from ${sql.table(table)} as item
      join audit_events as record on record.subject_id = item.id and record.created_at = item.expires_at
      where record.type = ${`${kind}.suspended`} ${isRevocable ? sql`and item.revoked_at is null` : sql``}
      order by item.created_at, item.id
    `.execute(reader);
    found.push(
      ...rows.map(({ attributes, ...row }) => ({ ...row, kind, expiresAt: earlierEndIn(attributes) })),
    );
  }
  const { rows } = await sql<Omit<Suspended, 'kind' | 'expiresAt' | 'lastUsedAt'>>`
    select item.id, item.instance_integration_id as "of", item.description as label, record.created_at as since
    from subscriptions as item
    join audit_events as record on record.subject_id = item.id and record.created_at = item.disabled_at
    where record.type = 'subscription.suspended' and item.status = 'DISABLED' and item.disabled_reason = 'OPERATOR'
    order by item.created_at, item.id
  `.execute(reader);
  found.push(
    ...rows.map((row) => ({ ...row, kind: 'subscription' as const, lastUsedAt: null, expiresAt: null })),
  );
  return found;
}

/**
 * Restores the expiry of a credential, or enables a subscription, whose held deliveries stay held until an
 * operator replays their events. Returns undefined if the item was changed since, or cannot be resumed.
 */
export function resume(
  { write }: Pick<OpenedDatabase, 'write'>,
  suspended: Suspended,
  { actor, at }: { actor: Actor; at: number },
): Promise<Resumed | undefined> {
  const { kind, id, since, expiresAt } = suspended;
  return write(async (writer) => {
    const changes = new CopyChanges(writer, at, actor);
    if (kind !== 'subscription') {
      if (!(await setEnd(writer, { kind, id }, expiresAt, since))) {
        return undefined;
      }
      await changes.record(`${kind}.resumed`, { type: kind, id });
      return { ...suspended, heldSince: null };
    }
    // Waits for writes that record events for the disabled subscription, and holds up later ones.
    await subscriptionRows(writer).findLocked(id);
    if (!(await changes.enableSubscription(id, isStillDisabled(since)))) {
      return undefined;
    }
    await changes.record('subscription.enabled', { type: kind, id });
    const heldSince = await subscriptionDeliveryRows(writer).heldSince(id as SubscriptionId);
    return { ...suspended, heldSince };
  });
}

/** Unchanged since the restore, and its connection is configured. */
function isStillDisabled(since: number) {
  return sql`status = 'DISABLED' and disabled_reason = 'OPERATOR' and disabled_at = ${since} and exists (
    select 1 from instance_integrations as connection
    where connection.id = subscriptions.instance_integration_id and connection.configured_at is not null
  )`;
}

function earlierEndIn(attributes: string): number | null {
  const end = Number((JSON.parse(attributes) as { expires_at?: string }).expires_at);
  return Number.isFinite(end) ? end : null;
}
