import { isAhead } from '../../clock.js';
import type { TokenAlgorithm } from '../../operator/rows/applications.js';
import {
  activeKey,
  dueKeys,
  isOfKnownAlgorithm,
  isPublic,
  type KeyMaterial,
  type SigningKey,
  TOKEN_ALGORITHMS,
} from './signing-keys.js';

export interface RotationPolicy {
  /** How long a key signs before its successor takes over. */
  lifetimeMs: number;
  /** How long a key is published before it signs; longer than clients cache a key set. */
  publishLeadMs: number;
  /** Longer than any token: how long a key stays published after it signed its last. */
  tokenLifetimeMs: number;
}

/** Tokens may last a day; the hour is for differing clocks and cached keys. */
export const LONGEST_TOKEN_MS = 25 * 3_600_000;

type KeyStep = 'published' | 'activated' | 'superseded' | 'retired' | 'withdrawn';

/** One step of a key, and the key after it. */
export interface KeyChange {
  key: SigningKey;
  step: KeyStep;
}

/** Whether a key must be made: none signs, or the present one ends without a successor. */
export function needsKey(
  keys: readonly SigningKey[],
  algorithm: TokenAlgorithm,
  now: number,
  policy: RotationPolicy,
): boolean {
  const active = activeKey(keys, algorithm, now);
  return (
    active === undefined ||
    (!isUnderWay(keys, algorithm, now) &&
      active.activatesAt + policy.lifetimeMs - policy.publishLeadMs <= now)
  );
}

/**
 * Whether a published key does not sign yet. One that was made later than now, before the clock was set back,
 * does not count: it may begin in years.
 */
export function isUnderWay(keys: readonly SigningKey[], algorithm: TokenAlgorithm, now: number): boolean {
  return keys.some(
    (key) =>
      key.algorithm === algorithm && isPublic(key) && key.activatesAt > now && !isAhead(key.createdAt, now),
  );
}

/** A new key: signs at once if none does, else after the lead. */
export function published(
  keys: readonly SigningKey[],
  material: KeyMaterial,
  now: number,
  { publishLeadMs }: RotationPolicy,
): KeyChange[] {
  const signsNow = activeKey(keys, material.algorithm, now) === undefined;
  const key = newKey(material, now, signsNow ? now : now + publishLeadMs);
  return signsNow ? bothSteps(key) : [{ key, step: 'published' }];
}

/** After a leak: withdraws all published keys; the new one signs at once. */
export function replaced(keys: readonly SigningKey[], material: KeyMaterial, now: number): KeyChange[] {
  const present = keys.filter(({ algorithm }) => algorithm === material.algorithm);
  return [...withdrawn(present, now), ...bothSteps(newKey(material, now, now))];
}

/** After a leak: keys of algorithms that only a newer release knows, and makes anew at its next step. */
export function withdrawnUnknown(keys: readonly SigningKey[], now: number): KeyChange[] {
  return withdrawn(
    keys.filter((key) => !isOfKnownAlgorithm(key)),
    now,
  );
}

function withdrawn(keys: readonly SigningKey[], now: number): KeyChange[] {
  return keys.filter(isPublic).map((key) => withdraw(key, now));
}

/** Steps that time has caused and that are not recorded: successors took over, keys retired. */
export function passed(
  keys: readonly SigningKey[],
  algorithm: TokenAlgorithm,
  now: number,
  { tokenLifetimeMs }: RotationPolicy,
): KeyChange[] {
  const started = dueKeys(keys, algorithm, now);
  return started.flatMap((key, index) => {
    const successor = started[index + 1];
    const changes: KeyChange[] = [];
    let present = key;
    // A later successor is from before the clock was set back.
    if (successor && (key.supersededAt ?? Number.POSITIVE_INFINITY) > successor.activatesAt) {
      // The time it happened, not the time it is recorded: it has signed nothing since.
      const supersededAt = successor.activatesAt;
      present = { ...key, supersededAt, retiresAt: supersededAt + tokenLifetimeMs };
      changes.push({ key: successor, step: 'activated' }, { key: present, step: 'superseded' });
    }
    if (present.retiresAt !== null && present.retiresAt <= now) {
      changes.push({ key: { ...present, retiredAt: now }, step: 'retired' });
    }
    return changes;
  });
}

/** When the next step is due; in the past if one is overdue, now if a key is missing. */
export function nextDueAt(keys: readonly SigningKey[], now: number, policy: RotationPolicy): number {
  const times = TOKEN_ALGORITHMS.flatMap((algorithm) => {
    const active = activeKey(keys, algorithm, now);
    if (active === undefined) {
      return [now];
    }
    const begun = passed(keys, algorithm, now, policy).filter(({ step }) => step === 'activated');
    const own = keys.filter((key) => key.algorithm === algorithm && isPublic(key));
    const coming = own.filter((key) => key.activatesAt > now).map((key) => key.activatesAt);
    const ending = own.flatMap(({ retiresAt }) => retiresAt ?? []);
    const succession = active.activatesAt + policy.lifetimeMs - policy.publishLeadMs;
    return [
      ...begun.map(({ key }) => key.activatesAt),
      ...[...ending, ...coming, ...(isUnderWay(own, algorithm, now) ? [] : [succession])],
    ];
  });
  return Math.min(...times);
}

function newKey(material: KeyMaterial, now: number, activatesAt: number): SigningKey {
  return { ...material, createdAt: now, activatesAt, supersededAt: null, retiresAt: null, retiredAt: null };
}

function bothSteps(key: SigningKey): KeyChange[] {
  return [
    { key, step: 'published' },
    { key, step: 'activated' },
  ];
}

function withdraw(key: SigningKey, now: number): KeyChange {
  const signed = key.activatesAt <= now;
  const supersededAt = signed ? (key.supersededAt ?? now) : null;
  // Without the planned end, which may have passed: the key would count as one that retired in its time.
  return { key: { ...key, supersededAt, retiresAt: null, retiredAt: now }, step: 'withdrawn' };
}
