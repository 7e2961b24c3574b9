import type { AccountId } from '../../../generated/ids.js';
import { newRowId } from '../../identifiers/random-secrets.js';
import type { Browser } from './browser.js';
import type { SignOn } from './sign-on.js';

/** A password of a person: with another one, no browser is known any more. */
export interface DevicePerson {
  accountId: AccountId;
  passwordSetAt: number;
}

/** People who share a browser; the one who signed in longest ago is forgotten for one more. */
const PEOPLE_PER_DEVICE = 8;

/**
 * The browser by its own id, if the person has signed in in it: guesses made elsewhere do not get in its way. The cookie holds an id and a seal for each person, so nothing
 * is stored, and nobody can tell from it who they are.
 */
export function deviceKnowing(
  { formTokens }: Pick<SignOn, 'formTokens'>,
  { device }: Pick<Browser, 'device'>,
  person: DevicePerson,
): string | undefined {
  const [id = '', ...seals] = partsOf(device);
  // All of them, so that an account that does not exist takes as long as one that does.
  const known = seals.filter((seal) => formTokens.matches(seal, ...sealed(id, person)));
  return known.length > 0 ? id : undefined;
}

/** The cookie with which the browser is known to the person from now on. */
export function deviceCookieOf(
  { formTokens }: Pick<SignOn, 'formTokens'>,
  { device }: Pick<Browser, 'device'>,
  person: DevicePerson,
): string {
  const [id = newRowId(), ...seals] = partsOf(device);
  const own = formTokens.make(...sealed(id, person));
  const others = seals.filter((seal) => seal !== own);
  return [id, own, ...others].slice(0, 1 + PEOPLE_PER_DEVICE).join('.');
}

function partsOf(device: string | undefined): string[] {
  return device === undefined || device === '' ? [] : device.split('.').slice(0, 1 + PEOPLE_PER_DEVICE);
}

function sealed(id: string, { accountId, passwordSetAt }: DevicePerson): string[] {
  return ['device', id, accountId, String(passwordSetAt)];
}
