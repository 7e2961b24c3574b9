import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { OperatorChanges } from './unit-of-work.js';

/** A node announces its keys this often at least… */
export const ANNOUNCE_EVERY_MS = 30_000;
/** …and counts as gone when it has not for so long, by the clock of the database: those of nodes may differ. */
export const GONE_AFTER_MS = 90_000;

const LOCK = 'encryption-keys';

/** An encryption key that is or was in use. The key itself stands in the key file only. */
export interface UsedEncryptionKey {
  id: string;
  /** Counts from 1; the highest is in use. */
  position: number;
  activatedAt: number;
  retiredAt: number | null;
}

/** A domain node, and the keys that its key file holds. */
export interface KeyHolder {
  node: string;
  keyIds: readonly string[];
  /** The one that it seals with. */
  usedId: string | null;
}

export interface EncryptionKeyRows {
  /** Newest first. */
  all(): Promise<UsedEncryptionKey[]>;
  /** False where another key has this position already. */
  insert(key: UsedEncryptionKey): Promise<boolean>;
  /**
   * False where it was retired before. From the beginning of this no other transaction commits what the key sealed, unless it did so before: what is counted
   * afterwards is all there will be.
   */
  retire(id: string, now: number): Promise<boolean>;
  /** The nodes that are not gone. */
  holders(): Promise<KeyHolder[]>;
  /** How many seals each key has made. */
  sealCounts(): Promise<Map<string, number>>;
}

export type EncryptionKeyStatus = 'waiting' | 'active' | 'superseded' | 'retired';

export interface EncryptionKeyState {
  id: string;
  status: EncryptionKeyStatus;
  activatedAt: number | null;
  retiredAt: number | null;
  seals: number;
  /** The nodes whose key file does not hold it. */
  missingOn: readonly string[];
}

export async function encryptionKeyStates(
  rows: EncryptionKeyRows,
): Promise<{ keys: EncryptionKeyState[]; nodes: number }> {
  const [used, holders, seals] = await Promise.all([rows.all(), rows.holders(), rows.sealCounts()]);
  const known = new Map(used.map((key) => [key.id, key]));
  const waiting = holders.flatMap(({ keyIds }) => keyIds).filter((id) => !known.has(id));
  const keys = [...new Set([...waiting, ...known.keys()])].map((id) => ({
    id,
    status: statusOf(known.get(id), used[0]),
    activatedAt: known.get(id)?.activatedAt ?? null,
    retiredAt: known.get(id)?.retiredAt ?? null,
    seals: seals.get(id) ?? 0,
    missingOn: missingOn(holders, id),
  }));
  return { keys, nodes: holders.length };
}

/** Lets the nodes seal with this key. Refused until each of them holds it: what one seals, every other must open. */
export async function activateEncryptionKey(changes: OperatorChanges, id: string): Promise<void> {
  const rows = changes.encryptionKeys;
  // A node that starts announces itself under the same lock, and reads afterwards which key is in use.
  await changes.lock(LOCK);
  const used = await rows.all();
  const [present] = used;
  if (present?.id === id) {
    return;
  }
  if (used.some((key) => key.id === id)) {
    throw refused('The key was in use before. Rotate to a new one.');
  }
  const holders = await rows.holders();
  const missing = missingOn(holders, id);
  if (missing.length === holders.length) {
    const fieldViolations = [{ path: 'key_id', message: 'must be a key that the key files hold' }];
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'No node holds such a key.', { fieldViolations });
  }
  if (missing.length > 0) {
    throw refused(
      `Its key file must hold the key on every node first; it is missing on ${missing.join(', ')}.`,
    );
  }
  const position = (present?.position ?? 0) + 1;
  if (!(await rows.insert({ id, position, activatedAt: changes.now, retiredAt: null }))) {
    throw refused('Another rotation was quicker. Look at the list of keys, and try again.');
  }
  await changes.record({ type: 'encryption_key.activated', subject: { type: 'encryption_key', id } });
}

/** Declares a key needless. Refused while a seal or a node uses it. */
export async function retireEncryptionKey(changes: OperatorChanges, id: string): Promise<void> {
  const rows = changes.encryptionKeys;
  await changes.lock(LOCK);
  const used = await rows.all();
  const key = used.find((each) => each.id === id);
  if (key === undefined) {
    const fieldViolations = [{ path: 'key_id', message: 'must be a key that is or was in use' }];
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'There is no such key.', { fieldViolations });
  }
  if (key === used[0]) {
    throw refused('The key is in use. Rotate to another one first.');
  }
  // Before anything is looked at, so that nobody seals with it meanwhile; a refusal undoes it.
  if (!(await rows.retire(id, changes.now))) {
    return;
  }
  const users = (await rows.holders()).filter(({ usedId }) => usedId === id);
  if (users.length > 0) {
    throw refused(`These nodes still seal with it: ${users.map(({ node }) => node).join(', ')}.`);
  }
  const seals = (await rows.sealCounts()).get(id) ?? 0;
  if (seals > 0) {
    throw refused(`What it sealed is being sealed anew, and ${seals} are left. Try again in a moment.`);
  }
  await changes.record({ type: 'encryption_key.retired', subject: { type: 'encryption_key', id } });
}

function statusOf(
  key: UsedEncryptionKey | undefined,
  newest: UsedEncryptionKey | undefined,
): EncryptionKeyStatus {
  if (key === undefined) {
    return 'waiting';
  }
  if (key.retiredAt !== null) {
    return 'retired';
  }
  return key === newest ? 'active' : 'superseded';
}

function missingOn(holders: readonly KeyHolder[], id: string): string[] {
  return holders.filter(({ keyIds }) => !keyIds.includes(id)).map(({ node }) => node);
}

function refused(message: string): ServiceError {
  return new ServiceError(ErrorCode.TRANSITION_REFUSED, message);
}
