import { describe, expect, test } from '@jest/globals';
import type { AccountId } from '../../../../generated/ids.js';
import { deviceCookieOf, deviceKnowing } from '../../../../src/domain/sign-on/sessions/devices.js';
import { secrets } from '../token-keys.js';

const ADA = { accountId: 'acc_ada' as AccountId, passwordSetAt: 1 };
const EVE = { accountId: 'acc_eve' as AccountId, passwordSetAt: 1 };

/** As the edge lets one through. */
const COOKIE = /^[A-Za-z0-9_-]{22}(?:\.[A-Za-z0-9_-]{43}){1,8}$/;

describe('a browser', () => {
  test('is known for the people who have signed in in it, and for no others', () => {
    const device = deviceCookieOf(secrets, { device: undefined }, ADA);
    expect(device).toMatch(COOKIE);
    expect(deviceKnowing(secrets, { device }, ADA)).toBe(device.slice(0, 22));
    expect(deviceKnowing(secrets, { device }, EVE)).toBeUndefined();
    const shared = deviceCookieOf(secrets, { device }, EVE);
    expect([ADA, EVE].map((person) => deviceKnowing(secrets, { device: shared }, person))).toEqual([
      device.slice(0, 22),
      device.slice(0, 22),
    ]);
    expect(shared).not.toMatch(/ada|eve/);
  });

  test('is not known any more once the password is another one', () => {
    const device = deviceCookieOf(secrets, { device: undefined }, ADA);
    expect(deviceKnowing(secrets, { device }, { ...ADA, passwordSetAt: 2 })).toBeUndefined();
  });

  test('forgets who signed in longest ago, when too many do', () => {
    const people = Array.from({ length: 9 }, (_, number) => ({
      ...ADA,
      accountId: `acc_${number}` as AccountId,
    }));
    let device: string | undefined;
    for (const person of [...people, people[8] as typeof ADA]) {
      device = deviceCookieOf(secrets, { device }, person);
      expect(device).toMatch(COOKIE);
    }
    expect(people.map((person) => deviceKnowing(secrets, { device }, person) !== undefined)).toEqual([
      false,
      ...Array(8).fill(true),
    ]);
  });

  test('is not known by what was taken from another one, or made up', () => {
    const [one, other] = [1, 2].map(() => deviceCookieOf(secrets, { device: undefined }, ADA)) as [
      string,
      string,
    ];
    const mixed = `${one.slice(0, 22)}${other.slice(22)}`;
    for (const device of [mixed, one.slice(0, -1), one.slice(0, 22), '.', '', undefined]) {
      expect(deviceKnowing(secrets, { device }, ADA)).toBeUndefined();
    }
  });
});
