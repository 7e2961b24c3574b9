import type { Clock } from '../../clock.js';
import type { Actor } from '../../operator/audit.js';
import type { TokenAlgorithm } from '../../operator/rows/applications.js';
import { auditChange } from '../../unit-of-work.js';
import type { SignOnChanges, SignOnUnitOfWork } from '../sign-on.js';
import {
  isUnderWay,
  type KeyChange,
  needsKey,
  nextDueAt,
  passed,
  published,
  type RotationPolicy,
  replaced,
  withdrawnUnknown,
} from './due-key-changes.js';
import { type KeyMaterial, type SigningKey, type SigningKeyMaker, TOKEN_ALGORITHMS } from './signing-keys.js';

export interface KeyRotation {
  unitOfWork: SignOnUnitOfWork;
  maker: SigningKeyMaker;
  policy: RotationPolicy;
  clock: Clock;
  /** Called after each change, so that this node uses it at once; other nodes follow within seconds. */
  changed(): Promise<void>;
}

/** Serializes changes of keys. */
const LOCK = 'signing-keys';

const AT_START: Actor = { type: 'service', id: 'start' };

/** Ensures that keys exist. Of nodes that start together, one makes them. */
export async function ensureSigningKeys(rotation: KeyRotation): Promise<void> {
  await advanceSigningKeys(rotation, AT_START);
}

/** Takes all due steps, from any state, and returns when the next one is due. */
export async function advanceSigningKeys(
  rotation: KeyRotation,
  actor: Actor,
): Promise<{ changes: KeyChange[]; nextDueAt: number }> {
  const { unitOfWork, policy, clock } = rotation;
  const seen = await unitOfWork.rows.signingKeys.all();
  const now = clock();
  const due = nextDueAt(seen, now, policy);
  if (due > now) {
    return { changes: [], nextDueAt: due };
  }
  const made = await makeAll(
    rotation,
    TOKEN_ALGORITHMS.filter((algorithm) => needsKey(seen, algorithm, now, policy)),
  );
  const { changes, keys } = await change(rotation, actor, (present, at) =>
    TOKEN_ALGORITHMS.flatMap((algorithm) => {
      const material = made.get(algorithm);
      // Another node may have been faster; then this key is discarded.
      const wanted = material && needsKey(present, algorithm, at, policy);
      return [
        ...passed(present, algorithm, at, policy),
        ...(wanted ? published(present, material, at, policy) : []),
      ];
    }),
  );
  return { changes, nextDueAt: nextDueAt(keys, clock(), policy) };
}

/** For how long the next step has been due; 0 if none is. */
export async function keyStepLag({
  unitOfWork,
  policy,
  clock,
}: Pick<KeyRotation, 'unitOfWork' | 'policy' | 'clock'>): Promise<number> {
  const keys = await unitOfWork.rows.signingKeys.all();
  const now = clock();
  return Math.max(0, now - nextDueAt(keys, now, policy));
}

/**
 * Begins a rotation of these algorithms, of all if none is named, unless one is in progress. Returns all
 * keys, newest first. `compromised`: the present keys have leaked.
 */
export async function rotateSigningKeys(
  rotation: KeyRotation,
  actor: Actor,
  { algorithms, compromised }: { algorithms: readonly TokenAlgorithm[]; compromised: boolean },
): Promise<SigningKey[]> {
  const { policy } = rotation;
  const wanted = algorithms.length > 0 ? new Set(algorithms) : new Set(TOKEN_ALGORITHMS);
  const made = await makeAll(rotation, [...wanted]);
  const { keys } = await change(rotation, actor, (present, now) => [
    ...(compromised && algorithms.length === 0 ? withdrawnUnknown(present, now) : []),
    ...[...made.values()].flatMap((material) => {
      if (compromised) {
        return replaced(present, material, now);
      }
      return isUnderWay(present, material.algorithm, now) ? [] : published(present, material, now, policy);
    }),
  ]);
  return keys;
}

async function makeAll(
  { maker }: KeyRotation,
  algorithms: readonly TokenAlgorithm[],
): Promise<Map<TokenAlgorithm, KeyMaterial>> {
  const materials = await Promise.all(algorithms.map((algorithm) => maker.make(algorithm)));
  return new Map(materials.map((material) => [material.algorithm, material]));
}

/** One transaction, which decides by the keys it reads. */
async function change(
  { unitOfWork, changed }: KeyRotation,
  actor: Actor,
  decide: (keys: readonly SigningKey[], now: number) => KeyChange[],
): Promise<{ changes: KeyChange[]; keys: SigningKey[] }> {
  const result = await unitOfWork.run(async (rows) => {
    await rows.lock(LOCK);
    const present = await rows.signingKeys.all();
    const changes = decide(present, rows.now);
    await apply(rows, actor, present, changes);
    return { changes, keys: await rows.signingKeys.all() };
  });
  if (result.changes.length > 0) {
    await changed();
  }
  return result;
}

async function apply(
  rows: Pick<SignOnChanges, 'audit' | 'signingKeys'>,
  actor: Actor,
  present: readonly SigningKey[],
  changes: readonly KeyChange[],
): Promise<void> {
  const known = new Set(present.map(({ kid }) => kid));
  // A key with two steps at once is written in its state after the second.
  for (const key of new Map(changes.map((each) => [each.key.kid, each.key])).values()) {
    await (known.has(key.kid) ? rows.signingKeys.update(key) : rows.signingKeys.insert(key));
  }
  for (const { key, step } of changes) {
    await auditChange({ ...rows, actor }, `signing_key.${step}`, key.kid, { algorithm: key.algorithm });
  }
}
