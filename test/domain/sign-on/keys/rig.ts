import type { Actor } from '../../../../src/domain/operator/audit.js';
import type { TokenAlgorithm } from '../../../../src/domain/operator/rows/applications.js';
import type { RotationPolicy } from '../../../../src/domain/sign-on/keys/due-key-changes.js';
import type { KeyRotation } from '../../../../src/domain/sign-on/keys/key-rotation.js';
import type {
  KeyMaterial,
  SigningKey,
  SigningKeyMaker,
} from '../../../../src/domain/sign-on/keys/signing-keys.js';
import type { SignOnChanges, SignOnUnitOfWork } from '../../../../src/domain/sign-on/sign-on.js';
import { fakeClock } from '../../clock.js';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export const policy: RotationPolicy = {
  lifetimeMs: 90 * DAY,
  publishLeadMs: DAY,
  tokenLifetimeMs: 25 * HOUR,
};

export const OPERATOR: Actor = { type: 'service_token', id: 'tok_1' };
export const SCHEDULE: Actor = { type: 'schedule', id: 'signing-key-rotation' };

/** Keys that sign nothing, numbered in the order in which they were made. */
export function numberedKeys(): SigningKeyMaker & { made: KeyMaterial[] } {
  const made: KeyMaterial[] = [];
  return {
    made,
    make: async (algorithm: TokenAlgorithm) => {
      const kid = `${algorithm}-${made.length + 1}`;
      const material = { kid, algorithm, publicJwk: { kid }, sealedPrivateKey: `sealed ${kid}` };
      made.push(material);
      return material;
    },
  };
}

/** The rules over keys in memory, with a clock that the test turns. */
export function keyRig() {
  const clock = fakeClock();
  const maker = numberedKeys();
  let keys: SigningKey[] = [];
  const audited: string[] = [];
  let reloads = 0;
  const signingKeys = {
    all: async () => [...keys].reverse(),
    insert: async (key: SigningKey) => {
      keys.push(key);
    },
    update: async (key: SigningKey) => {
      keys = keys.map((present) => (present.kid === key.kid ? key : present));
    },
  };
  const unitOfWork = {
    rows: { signingKeys },
    run: <T>(work: (changes: SignOnChanges) => Promise<T>) =>
      work({
        now: clock.now(),
        lock: async () => undefined,
        signingKeys,
        audit: async (actor: Actor, { type, subject }: { type: string; subject: { id: string } }) => {
          audited.push(`${actor.type} ${type} ${subject.id}`);
        },
      } as unknown as SignOnChanges),
  } as unknown as SignOnUnitOfWork;
  const rotation: KeyRotation = {
    unitOfWork,
    maker,
    policy,
    clock: clock.now,
    changed: async () => {
      reloads += 1;
    },
  };
  return { rotation, clock, maker, audited, keys: () => keys, reloads: () => reloads };
}
