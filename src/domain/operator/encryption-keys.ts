import { invalidField, refused } from '../../errors/service-error.js';
import { auditChange } from '../unit-of-work.js';
import type { EncryptionKeyRows, KeyHolder, UsedEncryptionKey } from './rows/encryption-keys.js';
import type { OperatorChanges } from './unit-of-work.js';

type Ports = Pick<OperatorChanges, 'actor' | 'audit' | 'encryptionKeys' | 'lock' | 'now'>;

/** A node announces its keys at least this often. */
export const ANNOUNCE_EVERY_MS = 30_000;
/** A node is gone after this time without an announcement, by the clock of the database. */
export const GONE_AFTER_MS = 90_000;

const LOCK = 'encryption-keys';

type EncryptionKeyStatus = 'waiting' | 'active' | 'superseded' | 'retired';

export interface EncryptionKeyState {
  id: string;
  status: EncryptionKeyStatus;
  activatedAt: number | null;
  retiredAt: number | null;
  seals: number;
  /** The nodes without it in their key file; none for a retired key. */
  missingOn: readonly string[];
  /** The nodes that have it although it is retired. */
  stillOn: readonly string[];
}

export async function encryptionKeyStates(
  rows: EncryptionKeyRows,
): Promise<{ keys: EncryptionKeyState[]; nodes: number }> {
  const [used, holders, seals] = await Promise.all([rows.all(), rows.holders(), rows.sealCounts()]);
  const known = new Map(used.map((key) => [key.id, key]));
  const waiting = holders.flatMap(({ keyIds }) => keyIds).filter((id) => !known.has(id));
  const keys = [...new Set([...waiting, ...known.keys()])].map((id) => {
    const status = statusOf(known.get(id), used[0]);
    return {
      id,
      status,
      activatedAt: known.get(id)?.activatedAt ?? null,
      retiredAt: known.get(id)?.retiredAt ?? null,
      seals: seals.get(id) ?? 0,
      missingOn: status === 'retired' ? [] : nodesWhere(false, holders, id),
      stillOn: status === 'retired' ? nodesWhere(true, holders, id) : [],
    };
  });
  return { keys, nodes: holders.length };
}

/** Makes nodes seal with this key. Refused until every node has it and can open such seals. */
export async function activateEncryptionKey(changes: Ports, id: string): Promise<void> {
  const rows = changes.encryptionKeys;
  // A starting node announces itself under the same lock, and then reads which key is in use.
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
  const missing = nodesWhere(false, holders, id);
  if (missing.length === holders.length) {
    throw invalidField('No node holds such a key.', 'key_id', 'must be a key that the key files hold');
  }
  if (missing.length > 0) {
    throw refused(
      `Its key file must hold the key on every node first; it is missing on ${missing.join(', ')}.`,
    );
  }
  const position = (present?.position ?? 0) + 1;
  if (!(await rows.insert({ id, position, activatedAt: changes.now, retiredAt: null }))) {
    throw refused('Another rotation was first. List the keys, and try again.');
  }
  await auditChange(changes, 'encryption_key.activated', id);
}

/** Retires a key. Refused while a seal or a node uses it. */
export async function retireEncryptionKey(changes: Ports, id: string): Promise<void> {
  const rows = changes.encryptionKeys;
  await changes.lock(LOCK);
  const used = await rows.all();
  const key = used.find((each) => each.id === id);
  if (key === undefined) {
    throw invalidField('There is no such key.', 'key_id', 'must be a key that is or was in use');
  }
  if (key === used[0]) {
    throw refused('The key is in use. Rotate to another one first.');
  }
  // First, so that no new seals are made meanwhile; a refusal rolls it back.
  if (!(await rows.retire(id, changes.now))) {
    return;
  }
  await refuseBehindNewer(rows);
  const users = (await rows.holders()).filter(({ usedId }) => usedId === id);
  if (users.length > 0) {
    throw refused(`These nodes still seal with it: ${users.map(({ node }) => node).join(', ')}.`);
  }
  const seals = (await rows.sealCounts()).get(id) ?? 0;
  if (seals > 0) {
    throw refused(
      `The service is replacing the seals of this key: ${seals} are left. Try again in a moment.`,
    );
  }
  await auditChange(changes, 'encryption_key.retired', id);
}

/**
 * A newer release may have secrets that this one neither counts nor seals anew, and that need the old key. If
 * it migrates the database meanwhile, its nodes announce themselves after this transaction, before they seal.
 */
async function refuseBehindNewer(rows: EncryptionKeyRows): Promise<void> {
  const newer = await rows.newerMigrations();
  if (newer.length > 0) {
    throw refused(
      `A newer version of the service has migrated the database (it has ${newer.join(', ')}), and may have encrypted secrets that this version does not know. Repeat this at a domain node of that version.`,
    );
  }
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

function nodesWhere(isHeld: boolean, holders: readonly KeyHolder[], id: string): string[] {
  return holders.filter(({ keyIds }) => keyIds.includes(id) === isHeld).map(({ node }) => node);
}
