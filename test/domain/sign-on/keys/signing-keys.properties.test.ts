import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  advanceSigningKeys,
  ensureSigningKeys,
  rotateSigningKeys,
} from '../../../../src/domain/sign-on/keys/key-rotation.js';
import {
  activeKey,
  isPublic,
  isWithdrawn,
  TOKEN_ALGORITHMS,
} from '../../../../src/domain/sign-on/keys/signing-keys.js';
import { DAY, keyRig, OPERATOR, policy, SCHEDULE } from './rig.js';

type Rig = ReturnType<typeof keyRig>;
type Step = { waitMs: number } | 'advance' | { compromised: boolean; algorithm: number };

const stepAfter = (leastWaitMs: number): fc.Arbitrary<Step> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ waitMs: fc.integer({ min: leastWaitMs, max: 60 * DAY }) }) },
    { weight: 4, arbitrary: fc.constant('advance' as const) },
    { weight: 2, arbitrary: fc.record({ compromised: fc.boolean(), algorithm: fc.nat(2) }) },
  );

async function take(next: Step, { rotation, clock }: Rig): Promise<void> {
  if (next === 'advance') {
    await advanceSigningKeys(rotation, SCHEDULE);
  } else if ('waitMs' in next) {
    clock.advance(next.waitMs);
  } else {
    const algorithm = TOKEN_ALGORITHMS[next.algorithm] ?? 'RS256';
    await rotateSigningKeys(rotation, OPERATOR, {
      algorithms: [algorithm],
      compromised: next.compromised,
    });
  }
}

/** Runs the steps on a fresh rig and looks at the keys after each. A negative wait sets the clock back. */
function always(look: (rig: Rig, taken: Step) => void | Promise<void>, leastWaitMs = 1) {
  return fc.assert(
    fc.asyncProperty(fc.array(stepAfter(leastWaitMs), { maxLength: 40 }), async (steps) => {
      const rig = keyRig();
      await ensureSigningKeys(rig.rotation);
      for (const next of steps) {
        await take(next, rig);
        await look(rig, next);
      }
    }),
    { numRuns: 150 },
  );
}

test('whatever happens, and however late, every algorithm has a key that signs', () =>
  always(({ keys, clock }) => {
    for (const algorithm of TOKEN_ALGORITHMS) {
      expect(activeKey(keys(), algorithm, clock.now())).toBeDefined();
    }
  }));

test('a clock that is set back delays no rotation', () =>
  always(async ({ rotation, keys, clock }) => {
    await advanceSigningKeys(rotation, SCHEDULE);
    clock.advance(policy.publishLeadMs);
    await advanceSigningKeys(rotation, SCHEDULE);
    for (const algorithm of TOKEN_ALGORITHMS) {
      const { activatesAt = 0 } = activeKey(keys(), algorithm, clock.now()) ?? {};
      expect(activatesAt).toBeGreaterThan(clock.now() - policy.lifetimeMs);
    }
  }, -60 * DAY));

test('no key signs before it was published for the whole lead, but for the first and after a leak', () =>
  always(({ keys }) => {
    for (const key of keys().slice(TOKEN_ALGORITHMS.length)) {
      const before = keys().filter((other) => other.algorithm === key.algorithm && other !== key);
      const followsLeak = before.some((other) => isWithdrawn(other) && other.retiredAt === key.createdAt);
      const leadMs = key.activatesAt - key.createdAt;
      expect(followsLeak && leadMs === 0 ? policy.publishLeadMs : leadMs).toBe(policy.publishLeadMs);
    }
  }));

test('what is signed is verified by the published set until it is over, unless its key was withdrawn', () => {
  const signed: { rig: Rig; kid: string; at: number }[] = [];
  return always((rig) => {
    const now = rig.clock.now();
    for (const algorithm of TOKEN_ALGORITHMS) {
      signed.push({ rig, kid: activeKey(rig.keys(), algorithm, now)?.kid ?? '', at: now });
    }
    for (const token of signed) {
      const key = rig.keys().find(({ kid }) => token.rig === rig && kid === token.kid);
      if (key && now < token.at + policy.tokenLifetimeMs) {
        expect(isPublic(key) || isWithdrawn(key)).toBe(true);
      }
    }
    signed.splice(0, signed.length - 50);
  });
});

test('of each algorithm at most one key waits for its time', () =>
  always(({ keys, clock }) => {
    for (const algorithm of TOKEN_ALGORITHMS) {
      const waiting = keys().filter(
        (key) => key.algorithm === algorithm && isPublic(key) && key.activatesAt > clock.now(),
      );
      expect(waiting.length).toBeLessThanOrEqual(1);
    }
  }));

test('after a step nothing is due until the time it tells, and then something is', () =>
  always(async ({ rotation, clock }) => {
    const { nextDueAt } = await advanceSigningKeys(rotation, SCHEDULE);
    expect(nextDueAt).toBeGreaterThan(clock.now());
    clock.advance(nextDueAt - 1 - clock.now());
    await expect(advanceSigningKeys(rotation, SCHEDULE)).resolves.toEqual({ changes: [], nextDueAt });
    clock.advance(1);
    expect((await advanceSigningKeys(rotation, SCHEDULE)).changes).not.toEqual([]);
  }));
