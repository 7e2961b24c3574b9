import { realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type EncryptionKey,
  EncryptionKeyStatus,
} from '../../../../../generated/proto/integration/operator/v1/encryption_keys.js';
import {
  assertReplaceable,
  MAX_KEYS,
  newKey,
  readSecretsKeys,
  replaceSecretsKeys,
  SecretsKeyError,
} from '../../../../keys/secrets-key.js';
import { lockFile } from '../../../../store/file-lock.js';
import { StoreError } from '../../../../store/store-error.js';
import { Unfinished, UsageError } from '../../errors.js';
import { say } from '../../output/print.js';
import { asTime, asWord } from '../../output/table.js';
import type { Action, Session, Shown } from '../session.js';
import { shownList } from '../showing.js';

type FileKeys = Parameters<typeof replaceSecretsKeys>[1];

const WAIT_SECONDS = 120;
/** Another command has the file for some milliseconds. */
const LOCK_WAIT_MS = 2_000;
const LOOK_EVERY_MS = 500;

export const list: Action = async ({ operator }) => {
  const answer = await operator.listEncryptionKeys({});
  const left = answer.encryptionKeys.filter(({ stillOn }) => stillOn.length > 0);
  return {
    ...shown(answer),
    note: left.map(noteOfRetired).join('\n') || undefined,
  };
};

function noteOfRetired({ keyId, stillOn }: EncryptionKey): string {
  return `The retired key ${keyId} was still in the key file of ${stillOn.join(', ')} when that node last told. \`integration encryption-key retire ${keyId}\` removes it from the key file of the machine where you run it; on other machines, replace the file.`;
}

/** Each step may be the last before a crash: the next run finds the waiting key and continues with it. */
export const rotate: Action<{ wait?: number }> = async (session, _, { wait = WAIT_SECONDS }) => {
  const { operator } = session;
  const path = session.keyFile();
  const { encryptionKeys } = await operator.listEncryptionKeys({});
  const keyId = inKeyFile(() => waitingKey(path, encryptionKeys));
  say(`The key ${keyId} is in ${path}. Back that file up now, apart from copies of the database.`);
  const missingOn = await missingAfter(session, keyId, wait);
  if (missingOn.length > 0) {
    return {
      ...shown(await operator.listEncryptionKeys({})),
      failure: new Unfinished(
        `Nothing is sealed with ${keyId} yet: it is missing on ${missingOn.join(', ')}. Copy ${path} to the key file of each of these nodes, and run this command again: it goes on with the same key. A node that was killed is forgotten after 90 seconds.`,
      ),
    };
  }
  const answer = await operator.activateEncryptionKey({ keyId });
  const { json, text } = shown(answer);
  const retire = answer.encryptionKeys
    .filter(({ status }) => status === EncryptionKeyStatus.SUPERSEDED)
    .map((key) => `\n  integration encryption-key retire ${key.keyId}`);
  return {
    json,
    text: `${text}\n\nSecrets are sealed with ${keyId} from now on, and those of other keys are being sealed anew.\nWhen none is left:${retire.join('')}`,
  };
};

export const retire: Action = async ({ operator, keyFile }, [keyId]) => {
  const path = keyFile();
  const { encryptionKeys } = await operator.listEncryptionKeys({});
  const before = inKeyFile(() => readSecretsKeys(path));
  refuseOtherFile(path, before, activeOf(encryptionKeys));
  const isHeld = before.some(({ id }) => id === keyId);
  if (isHeld) {
    inKeyFile(() => assertReplaceable(path));
  }
  const { json, text } = shown(await operator.retireEncryptionKey({ keyId }));
  if (!isHeld) {
    return { json, text: `${text}\n\nThe key ${keyId} was not in ${path}: the file is unchanged.` };
  }
  inKeyFile(() => changeKeys(path, (keys) => keys.filter(({ id }) => id !== keyId)));
  return {
    json,
    text: `${text}\n\nThe key ${keyId} is no longer in ${path}; copy the file to the other nodes.\nKeep a copy of the old file for as long as you keep copies of the database from before.`,
  };
};

function activeOf(known: readonly EncryptionKey[]): string | undefined {
  return known.find(({ status }) => status === EncryptionKeyStatus.ACTIVE)?.keyId;
}

function refuseOtherFile(path: string, keys: FileKeys, active: string | undefined): void {
  if (!keys.some(({ id }) => id === active)) {
    throw new UsageError(
      `The key file ${path} does not hold ${active}, the key in use. Run this where the domain runs, with its DATA_DIR and SECRETS_KEY_FILE.`,
    );
  }
}

/** The key of the file that is not in use yet; makes one if there is none. */
function waitingKey(path: string, known: readonly EncryptionKey[]): string {
  const active = activeOf(known);
  const used = new Set(
    known.filter(({ status }) => status !== EncryptionKeyStatus.WAITING).map((key) => key.keyId),
  );
  const keys = changeKeys(path, (present) => {
    refuseOtherFile(path, present, active);
    if (present.some(({ id }) => !used.has(id))) {
      return present;
    }
    if (present.length >= MAX_KEYS) {
      throw new UsageError(`The key file ${path} holds ${MAX_KEYS} keys. Retire one first.`);
    }
    return [...present, newKey()];
  });
  return keys.find(({ id }) => !used.has(id))?.id as string;
}

/**
 * Changes the file unless `change` returns the keys that it was given. Two commands take turns: otherwise one
 * could remove the key that the other has just made, and secrets may be sealed with it already.
 */
function changeKeys(path: string, change: (keys: FileKeys) => FileKeys): FileKeys {
  const present = readSecretsKeys(path);
  if (change(present) === present) {
    return present;
  }
  assertReplaceable(path);
  const lock = lockFile(
    `${realpathSync(path)}.lock`,
    `Another command is changing the key file ${path}. Run this one again.`,
    LOCK_WAIT_MS,
  );
  try {
    const keys = readSecretsKeys(path);
    const changed = change(keys);
    if (changed !== keys) {
      replaceSecretsKeys(path, changed);
    }
    return changed;
  } finally {
    lock.release();
  }
}

async function missingAfter({ operator }: Session, keyId: string, wait: number): Promise<string[]> {
  const endsAt = performance.now() + wait * 1_000;
  for (let isTold = false; ; ) {
    const { encryptionKeys, nodes } = await operator.listEncryptionKeys({});
    const key = encryptionKeys.find((each) => each.keyId === keyId);
    // A key that no node holds yet is not listed.
    const missingOn = key?.missingOn ?? [nodes === 1 ? 'the domain node' : `all ${nodes} domain nodes`];
    if (missingOn.length === 0 || performance.now() >= endsAt) {
      return missingOn;
    }
    if (!isTold && key) {
      say(`Waiting for ${missingOn.join(', ')}: copy the file there too.`);
      isTold = true;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

function inKeyFile<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const isOfFile = error instanceof SecretsKeyError || error instanceof StoreError;
    throw isOfFile ? new UsageError(error.message) : error;
  }
}

function shown({ encryptionKeys }: { encryptionKeys: readonly EncryptionKey[] }): Shown {
  return shownList(encryptionKeys, {
    key: ({ keyId }) => keyId,
    status: ({ status }) => asWord(status, 'ENCRYPTION_KEY_STATUS_'),
    seals: ({ seals }) => String(seals),
    'in use since': ({ activatedAt }) => asTime(activatedAt),
    retired: ({ retiredAt }) => asTime(retiredAt),
    'missing on': ({ missingOn }) => missingOn.join(', ') || '-',
  });
}
