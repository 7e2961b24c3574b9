import { expect, test } from '@jest/globals';
import { TURNS } from '../../../../src/domain/sign-on/sessions/guess-limits.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { browserRig, HOUR_MS, newPerson } from '../browser-rig.js';
import { codeOf, TestBrowser } from '../test-browser.js';

const DAY_MS = 24 * HOUR_MS;

describeEachDatabase('after the clock was set back', (under) => {
  async function rigAhead() {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    /** In a new browser, from the address. */
    const signInFrom = async (address: string, password?: string) => {
      const browser = new TestBrowser(rig, address);
      await browser.authorize();
      return browser.signIn(person, password === undefined ? {} : { password });
    };
    rig.clock.advance(DAY_MS);
    return { ...rig, person, signInFrom };
  }

  test('a person who signed in while it was ahead signs in in a new browser at once', async () => {
    const { clock, signInFrom } = await rigAhead();
    expect(codeOf(await signInFrom('192.0.2.7'))).toBeDefined();
    clock.advance(-DAY_MS);
    expect(codeOf(await signInFrom('192.0.2.7'))).toBeDefined();
    expect(codeOf(await signInFrom('198.51.100.7'))).toBeDefined();
  });

  test('neither the turns of guesses nor the count of a network last until it has caught up', async () => {
    const { clock, signInFrom } = await rigAhead();
    for (let guess = 0; guess <= 100; guess += 1) {
      await signInFrom('192.0.2.7', 'a wrong guess').catch(() => undefined);
    }
    await expect(signInFrom('192.0.2.7')).rejects.toMatchObject({ code: ErrorCode.RATE_LIMITED });
    clock.advance(-DAY_MS);
    expect(codeOf(await signInFrom('192.0.2.7'))).toBeDefined();
  });

  test('by less than a wait, the turns of guesses stay', async () => {
    const { clock, signInFrom } = await rigAhead();
    for (let guess = 0; guess < TURNS.free; guess += 1) {
      await signInFrom(`192.0.2.${guess}`, 'a wrong guess');
    }
    clock.advance(-1_000);
    await expect(signInFrom('198.51.100.7')).rejects.toMatchObject({ code: ErrorCode.RATE_LIMITED });
  });
});
