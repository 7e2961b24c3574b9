import { describe, expect, test } from '@jest/globals';
import { validateFields } from '../../../../src/domain/operator/application-rules.js';
import { Violations } from '../../../../src/domain/platform/violations.js';
import { LONGEST_TOKEN_MS } from '../../../../src/domain/sign-on/keys/due-key-changes.js';
import {
  advanceSigningKeys,
  ensureSigningKeys,
  keyStepLag,
  rotateSigningKeys,
} from '../../../../src/domain/sign-on/keys/key-rotation.js';
import { isWithdrawn, statusOf } from '../../../../src/domain/sign-on/keys/signing-keys.js';
import type { ServiceError } from '../../../../src/errors/service-error.js';
import { DAY, HOUR, keyRig, OPERATOR, policy, SCHEDULE } from './rig.js';

const NORMAL = { algorithms: ['RS256'], compromised: false } as const;
const LEAKED = { algorithms: ['RS256'], compromised: true } as const;

async function startedRig() {
  const rig = keyRig();
  await ensureSigningKeys(rig.rotation);
  const advance = () => advanceSigningKeys(rig.rotation, SCHEDULE);
  const stepsOf = async () => (await advance()).changes.map(({ key, step }) => `${key.kid} ${step}`);
  const statuses = () =>
    Object.fromEntries(rig.keys().map((key) => [key.kid, statusOf(key, rig.keys(), rig.clock.now())]));
  return { ...rig, advance, stepsOf, statuses };
}

describe('at the start', () => {
  test('each algorithm gets a key that signs at once', async () => {
    const { statuses, audited } = await startedRig();
    expect(statuses()).toEqual({ 'RS256-1': 'active', 'ES256-2': 'active', 'EdDSA-3': 'active' });
    expect(audited.slice(0, 2)).toEqual([
      'service signing_key.published RS256-1',
      'service signing_key.activated RS256-1',
    ]);
  });

  test('keys that are there are kept, and none is made', async () => {
    const { rotation, maker, reloads } = await startedRig();
    await ensureSigningKeys(rotation);
    expect([maker.made.length, reloads()]).toEqual([3, 1]);
  });

  test('an algorithm without keys gets one', async () => {
    const rig = await startedRig();
    const [first] = rig.keys();
    await rig.rotation.unitOfWork.run((changes) =>
      changes.signingKeys.update({ ...first, retiredAt: rig.clock.now() } as never),
    );
    await ensureSigningKeys(rig.rotation);
    expect(rig.statuses()).toMatchObject({ 'RS256-1': 'retired', 'RS256-4': 'active' });
  });
});

describe('the life of a key', () => {
  test('is published, then signs, then is superseded and retired when its last token expires', async () => {
    const { clock, stepsOf, statuses } = await startedRig();
    clock.advance(89 * DAY - 1);
    await expect(stepsOf()).resolves.toEqual([]);
    clock.advance(1);
    await expect(stepsOf()).resolves.toEqual(['RS256-4 published', 'ES256-5 published', 'EdDSA-6 published']);
    expect(statuses()).toMatchObject({ 'RS256-1': 'active', 'RS256-4': 'published' });
    clock.advance(DAY - 1);
    await expect(stepsOf()).resolves.toEqual([]);
    clock.advance(1);
    expect(statuses()).toMatchObject({ 'RS256-1': 'superseded', 'RS256-4': 'active' });
    await expect(stepsOf()).resolves.toEqual(
      expect.arrayContaining(['RS256-4 activated', 'RS256-1 superseded']),
    );
    clock.advance(25 * HOUR - 1);
    await expect(stepsOf()).resolves.toEqual([]);
    clock.advance(1);
    await expect(stepsOf()).resolves.toEqual(['RS256-1 retired', 'ES256-2 retired', 'EdDSA-3 retired']);
    expect(statuses()).toMatchObject({ 'RS256-1': 'retired', 'RS256-4': 'active' });
  });

  test('is recorded in the audit log, in the name of the schedule', async () => {
    const { clock, advance, audited } = await startedRig();
    audited.length = 0;
    clock.advance(89 * DAY);
    await advance();
    clock.advance(DAY);
    await advance();
    expect(audited.filter((line) => line.includes('RS256'))).toEqual([
      'schedule signing_key.published RS256-4',
      'schedule signing_key.activated RS256-4',
      'schedule signing_key.superseded RS256-1',
    ]);
  });

  test('advances by time without a recorded step, which is recorded later with its true time', async () => {
    const { clock, advance, keys, stepsOf, statuses } = await startedRig();
    clock.advance(89 * DAY);
    await advance();
    const succession = clock.now() + DAY;
    clock.advance(10 * DAY);
    expect(statuses()).toMatchObject({ 'RS256-1': 'superseded', 'RS256-4': 'active' });
    const steps = await stepsOf();
    expect(steps.filter((step) => step.includes('RS256'))).toEqual([
      'RS256-4 activated',
      'RS256-1 superseded',
      'RS256-1 retired',
    ]);
    expect(keys()[0]).toMatchObject({
      supersededAt: succession,
      retiresAt: succession + policy.tokenLifetimeMs,
      retiredAt: clock.now(),
    });
  });

  test('the successor of a key that signed far too long still gets its lead', async () => {
    const { clock, stepsOf, keys, statuses } = await startedRig();
    clock.advance(500 * DAY);
    expect(await stepsOf()).toContain('RS256-4 published');
    expect(statuses()).toMatchObject({ 'RS256-1': 'active', 'RS256-4': 'published' });
    expect(keys()[3]?.activatesAt).toBe(clock.now() + DAY);
  });
});

test('a key is published for longer than any application may have its tokens live', () => {
  const faultsOf = (seconds: number) => {
    const violations = new Violations();
    const tokenLifetimes = { accessTokenSeconds: seconds, idTokenSeconds: seconds };
    validateFields(violations, 'public', { tokenLifetimes } as never);
    try {
      violations.throwIfAny();
      return [];
    } catch (error) {
      return (error as ServiceError).fieldViolations.map(({ path }) => path);
    }
  };
  expect(faultsOf(LONGEST_TOKEN_MS / 1_000 - 3_600)).toEqual([]);
  expect(faultsOf(LONGEST_TOKEN_MS / 1_000)).toEqual([
    'token_lifetimes.access_token_seconds',
    'token_lifetimes.id_token_seconds',
  ]);
});

describe('a rotation by command', () => {
  test('publishes a successor that signs after the lead, of the algorithms asked for only', async () => {
    const { rotation, clock, statuses } = await startedRig();
    const keys = await rotateSigningKeys(rotation, OPERATOR, NORMAL);
    expect(keys.map(({ kid }) => kid)).toEqual(['RS256-4', 'EdDSA-3', 'ES256-2', 'RS256-1']);
    expect(statuses()).toMatchObject({ 'RS256-1': 'active', 'RS256-4': 'published' });
    clock.advance(DAY);
    expect(statuses()).toMatchObject({ 'RS256-1': 'superseded', 'RS256-4': 'active' });
  });

  test('is of every algorithm when none is named', async () => {
    const { rotation } = await startedRig();
    await rotateSigningKeys(rotation, OPERATOR, { algorithms: [], compromised: false });
    await expect(rotation.unitOfWork.rows.signingKeys.all()).resolves.toHaveLength(6);
  });

  test('is not begun again while it is under way', async () => {
    const { rotation, reloads, audited } = await startedRig();
    await rotateSigningKeys(rotation, OPERATOR, NORMAL);
    await rotateSigningKeys(rotation, OPERATOR, NORMAL);
    await expect(rotation.unitOfWork.rows.signingKeys.all()).resolves.toHaveLength(4);
    expect(reloads()).toBe(2);
    expect(audited.filter((line) => line.startsWith('service_token'))).toEqual([
      'service_token signing_key.published RS256-4',
    ]);
  });
});

describe('the lag of a step', () => {
  test('is the time since the step was due, and 0 before that and after it', async () => {
    const { rotation, clock, advance } = await startedRig();
    for (const step of ['published', 'activated', 'retired']) {
      clock.advance((await advance()).nextDueAt - clock.now());
      await expect(keyStepLag(rotation)).resolves.toBe(0);
      clock.advance(HOUR);
      await expect(keyStepLag(rotation)).resolves.toBe(HOUR);
      expect((await advance()).changes[0]).toMatchObject({ step });
      await expect(keyStepLag(rotation)).resolves.toBe(0);
    }
  });

  test('is that of the first of several steps', async () => {
    const { rotation, clock, advance } = await startedRig();
    clock.advance(89 * DAY);
    await advance();
    clock.advance(10 * DAY);
    await expect(keyStepLag(rotation)).resolves.toBe(9 * DAY);
  });
});

describe('a key that was published before the clock was set back', () => {
  async function setBackRig() {
    const rig = await startedRig();
    rig.clock.advance(400 * DAY);
    await rig.advance();
    rig.clock.advance(-400 * DAY);
    expect(rig.statuses()).toMatchObject({ 'RS256-1': 'active', 'RS256-4': 'published' });
    return rig;
  }

  test('delays no rotation by time', async () => {
    const { clock, advance, stepsOf, statuses } = await setBackRig();
    expect((await advance()).nextDueAt).toBe(clock.now() + 89 * DAY);
    clock.advance(89 * DAY);
    expect(await stepsOf()).toContain('RS256-7 published');
    await expect(stepsOf()).resolves.toEqual([]);
    clock.advance(DAY);
    expect(await stepsOf()).toEqual(expect.arrayContaining(['RS256-7 activated', 'RS256-1 superseded']));
    expect(statuses()).toMatchObject({ 'RS256-4': 'published', 'RS256-7': 'active' });
  });

  test('delays no rotation by command', async () => {
    const { rotation, clock, statuses } = await setBackRig();
    await rotateSigningKeys(rotation, OPERATOR, NORMAL);
    clock.advance(DAY);
    expect(statuses()).toMatchObject({ 'RS256-1': 'superseded', 'RS256-7': 'active' });
  });

  test('does not keep the key public that it had superseded', async () => {
    const { rotation, clock, advance, stepsOf } = await startedRig();
    clock.advance(400 * DAY);
    await advance();
    clock.advance(DAY);
    await advance();
    clock.advance(-401 * DAY);
    await rotateSigningKeys(rotation, OPERATOR, NORMAL);
    clock.advance(DAY);
    expect(await stepsOf()).toEqual(['RS256-7 activated', 'RS256-1 superseded']);
    clock.advance(25 * HOUR);
    expect(await stepsOf()).toEqual(['RS256-1 retired']);
  });
});

describe('a rotation after a leak', () => {
  test('takes back every key of the algorithm, also the coming and the past one, and signs with a new one at once', async () => {
    const { rotation, clock, advance, statuses, keys } = await startedRig();
    await rotateSigningKeys(rotation, OPERATOR, NORMAL);
    clock.advance(DAY);
    await advance();
    await rotateSigningKeys(rotation, OPERATOR, NORMAL);
    await rotateSigningKeys(rotation, OPERATOR, LEAKED);
    expect(statuses()).toEqual({
      'RS256-1': 'retired',
      'RS256-4': 'retired',
      'RS256-5': 'retired',
      'RS256-6': 'active',
      'ES256-2': 'active',
      'EdDSA-3': 'active',
    });
    expect(keys().filter(isWithdrawn)).toHaveLength(3);
    expect(keys().find(({ kid }) => kid === 'RS256-5')).toMatchObject({ supersededAt: null });
  });

  test('takes back a key, too, whose planned end has passed unrecorded', async () => {
    const { rotation, clock, advance, keys } = await startedRig();
    await rotateSigningKeys(rotation, OPERATOR, NORMAL);
    clock.advance(DAY);
    await advance();
    clock.advance(2 * DAY);
    await rotateSigningKeys(rotation, OPERATOR, LEAKED);
    const first = keys().find(({ kid }) => kid === 'RS256-1');
    expect(first && isWithdrawn(first)).toBe(true);
  });

  test('is told step by step', async () => {
    const { rotation, audited } = await startedRig();
    await rotateSigningKeys(rotation, OPERATOR, LEAKED);
    expect(audited.slice(-3)).toEqual([
      'service_token signing_key.withdrawn RS256-1',
      'service_token signing_key.published RS256-4',
      'service_token signing_key.activated RS256-4',
    ]);
  });

  test('leaves a key alone that had already expired', async () => {
    const { rotation, clock, advance, keys } = await startedRig();
    await rotateSigningKeys(rotation, OPERATOR, NORMAL);
    clock.advance(DAY);
    await advance();
    clock.advance(2 * DAY);
    await advance();
    await rotateSigningKeys(rotation, OPERATOR, LEAKED);
    expect(keys().map((key) => [key.kid, isWithdrawn(key)])).toEqual([
      ['RS256-1', false],
      ['ES256-2', false],
      ['EdDSA-3', false],
      ['RS256-4', true],
      ['RS256-5', false],
    ]);
  });
});
