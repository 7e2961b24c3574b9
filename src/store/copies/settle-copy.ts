import { type RawBuilder, sql } from 'kysely';
import type { SubscriptionId } from '../../../generated/ids.js';
import type { AuditType } from '../../domain/operator/audit-types.js';
import { newVersion } from '../../domain/version.js';
import { beginLife } from '../adapters/lives.js';
import { subscriptionDeliveryRows } from '../adapters/webhooks/subscriptions/deliveries.js';
import type { Writer } from '../database.js';
import { type Applied, applyList } from './apply-list.js';
import { CopyChanges } from './copy-changes.js';
import { RESTORED_TYPE, RESTORER } from './copy-facts.js';
import { type Credential, credentialsWhere, setEnd } from './credentials.js';
import { refuseLeftValid } from './left-valid.js';
import type { OpenedDatabase } from './open-copy.js';
import { type Suspended, suspendedIn } from './suspended.js';
import { unexpired, type ValidList, validIn, without } from './valid-list.js';

export interface Settling {
  at: number;
  /** A list of what is valid, with changes that are newer than the copy. */
  valid: ValidList | undefined;
  keepSessions: boolean;
  /** Does not suspend credentials: the list is recent, or the operator knows that none was revoked since. */
  keepKeys: boolean;
  sendWebhooks: boolean;
  /** Attributes of the audit record of the restore. */
  attributes: Record<string, string>;
}

/** What was ended, suspended and held in a restored database. */
export interface Settled extends Applied {
  ended: { sessions: number; grants: number; codes: number; links: number; signingKeys: number };
  /** Deleted, because those that were withdrawn since would be back. */
  consents: number;
  suspended: Credential[];
  alive: Credential[];
  /** Waiting for the platform, which may have acknowledged them since. */
  notices: number;
  /** What an earlier restore suspended, and this one without a list leaves suspended. */
  suspendedEarlier: Suspended[];
  /** `since`: the time of the oldest event whose delivery is held, by this restore or before it. */
  held: { subscriptions: string[]; deliveries: number; since: number | null };
  /** Subscriptions on the list for which an earlier restore held deliveries, the oldest of them `since`. */
  heldEarlier: { id: string; since: number }[];
}

/**
 * Ends in one transaction, before the service uses the copy, what may have been revoked since. Throws if the
 * committed database has anything valid that should not be: a trigger may have kept it.
 */
export async function settleCopy(
  { write, reader }: Pick<OpenedDatabase, 'write' | 'reader'>,
  settling: Settling,
): Promise<Settled> {
  const { at, keepSessions, keepKeys, sendWebhooks } = settling;
  const { settled, valid } = await settle(write, settling);
  refuseLeftValid(await validIn(reader, at), {
    ...valid,
    ...(keepKeys ? {} : { apiKeys: {}, serviceTokens: {}, clientSecrets: {} }),
    ...(keepSessions ? {} : { signingKeys: [] }),
    ...(sendWebhooks ? {} : { subscriptions: [] }),
  });
  return settled;
}

function settle(
  write: OpenedDatabase['write'],
  settling: Settling,
): Promise<{ settled: Settled; valid: ValidList }> {
  const { at, attributes } = settling;
  return write(async (writer) => {
    // Before any change: readers have to see every change of the restore.
    await beginLife(writer);
    const changes = new CopyChanges(writer, at, RESTORER);
    const suspendedEarlier = settling.valid === undefined ? await suspendedIn(writer) : [];
    const earlier = settling.valid === undefined ? [] : await undoSuspensions(changes, settling.valid);
    const present = await validIn(writer, at);
    // Without a list, what is valid in the copy is valid: that ends nothing.
    const valid = settling.valid ?? present;
    const applied = await applyList(changes, present, valid);
    const ended = await endSessions(changes, present, applied, { ...settling, valid });
    const consents = await changes.endWhere('consents', sql`delete from consents`, sql`1 = 1`);
    const suspended = await suspendCredentials(changes, settling);
    const held = await holdDeliveries(changes, present, applied, settling);
    const heldEarlier = earlier.filter(({ id }) => !applied.disabled.subscriptions.includes(id));
    await forgetOthers(changes);
    await changes.record(RESTORED_TYPE, { type: 'database', id: 'copy' }, attributes);
    const alive = await credentialsWhere(writer, unexpired(at));
    const notices = await waitingNotices(writer);
    const left = { suspended, alive, notices, suspendedEarlier, held, heldEarlier };
    return { settled: { ended, consents, ...applied, ...left }, valid };
  });
}

/**
 * What an earlier restore suspended becomes valid, so that the list decides about it: what the list lacks is
 * ended with the rest, so that no operator resumes it. Returns the subscriptions on the list for which the
 * earlier restore held deliveries.
 */
async function undoSuspensions(changes: CopyChanges, list: ValidList): Promise<Settled['heldEarlier']> {
  const { heldSince } = subscriptionDeliveryRows(changes.writer);
  const held: Settled['heldEarlier'] = [];
  const ends = { ...list.apiKeys, ...list.serviceTokens, ...list.clientSecrets };
  const listed = new Set([...Object.keys(ends), ...list.subscriptions]);
  for (const { kind, id, expiresAt } of await suspendedIn(changes.writer)) {
    const isSubscription = kind === 'subscription';
    await (isSubscription ? changes.enableSubscription(id) : setEnd(changes.writer, { kind, id }, expiresAt));
    if (listed.has(id)) {
      const type: AuditType = isSubscription ? 'subscription.enabled' : `${kind}.resumed`;
      await changes.record(type, { type: kind, id }, { reason: 'restored' });
      const since = isSubscription ? await heldSince(id as SubscriptionId) : null;
      held.push(...(since === null ? [] : [{ id, since }]));
    }
  }
  return held;
}

async function endSessions(
  changes: CopyChanges,
  present: ValidList,
  { disabled, passwords }: Applied,
  { at, keepSessions, valid }: Settling & { valid: ValidList },
): Promise<Settled['ended']> {
  const ended = { sessions: 0, grants: 0, codes: 0, links: 0 };
  // The list proves that these accounts were locked out or had their sessions ended.
  const locked = [...new Set([...disabled.accounts, ...passwords])].map((id) => sql`account_id = ${id}`);
  for (const whose of keepSessions ? locked : [sql`1 = 1`]) {
    const end = (table: string, change: RawBuilder<unknown>, isOpen: RawBuilder<unknown>) =>
      changes.endWhere(table, sql`update ${sql.table(table)} set ${change}`, sql`${isOpen} and ${whose}`);
    ended.sessions += await changes.endWhere('sessions', sql`delete from sessions`, whose);
    ended.grants += await end('grants', sql`revoked_at = ${at}`, sql`revoked_at is null`);
    ended.codes += await end('authorization_codes', sql`status = 'EXPIRED'`, sql`status = 'ISSUED'`);
    ended.links += await end('account_links', sql`ended_at = ${at}`, sql`ended_at is null`);
    ended.links += await end('email_changes', sql`link_hash = null`, sql`link_hash is not null`);
  }
  const listed = keepSessions ? valid.signingKeys : [];
  const signingKeys = await changes.endSigningKeys(without(present.signingKeys, listed));
  return { ...ended, signingKeys };
}

/** Suspends credentials until an operator resumes them, because later revocations are unknown. */
async function suspendCredentials(changes: CopyChanges, { at, keepKeys }: Settling): Promise<Credential[]> {
  if (keepKeys) {
    return [];
  }
  const alive = await credentialsWhere(changes.writer, unexpired(at));
  for (const each of alive) {
    await setEnd(changes.writer, each, at);
    await changes.record(
      `${each.kind}.suspended`,
      { type: each.kind, id: each.id },
      { expires_at: each.expiresAt === null ? 'never' : String(each.expiresAt) },
    );
  }
  return alive;
}

/** Holds the pending deliveries of every disabled subscription: none may stay pending. */
async function holdDeliveries(
  changes: CopyChanges,
  present: ValidList,
  { disabled }: Applied,
  { sendWebhooks }: Settling,
): Promise<Settled['held']> {
  const subscriptions = sendWebhooks ? [] : without(present.subscriptions, disabled.subscriptions);
  await changes.changeEach(subscriptions, 'subscription.suspended', (id) => changes.disableSubscription(id));
  const deliveries = await changes.countChanged(sql`
    update deliveries set status = 'HELD', next_attempt_at = null
    where status = 'PENDING' and subscription_id in (select id from subscriptions where status = 'DISABLED')
  `);
  const { rows } = await sql<{ since: number | null }>`
    select min(occurred_at) as since from events
    where seq in (select event_seq from deliveries where status = 'HELD')
  `.execute(changes.writer);
  const since = rows[0]?.since ?? null;
  return { subscriptions, deliveries, since: since === null ? null : Number(since) };
}

async function waitingNotices(writer: Writer): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (select count(*) from account_notices) + (select count(*) from integration_notices) as count
  `.execute(writer);
  return Number(rows[0]?.count);
}

/** Removes key holders, which are nodes of the old database, and invalidates what callers have cached. */
async function forgetOthers(changes: CopyChanges): Promise<void> {
  await changes.countChanged(sql`delete from encryption_key_holders`);
  await changes.countChanged(sql`update data_versions set version = ${newVersion()}`);
}
