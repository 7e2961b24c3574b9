import type { AccountId } from '../../../../generated/ids.js';
import { newRowId } from '../../../identifiers/random-secrets.js';
import type { SignOn } from '../sign-on.js';
import type { Browser } from './browser.js';

/** An account and its password: a new password makes all its devices unknown. */
export interface DevicePerson {
  accountId: AccountId;
  passwordSetAt: number;
}

/** The most people per browser; one more replaces the one who signed in longest ago. */
const PEOPLE_PER_DEVICE = 8;

/**
 * The browser's id, if the person signed in in it before. The cookie has an id and a seal per person, so
 * nothing is stored, and it does not disclose who they are.
 */
export function deviceKnowing(
  { formTokens }: Pick<SignOn, 'formTokens'>,
  { device }: Pick<Browser, 'device'>,
  person: DevicePerson,
): string | undefined {
  const [id = '', ...seals] = partsOf(device);
  // Checks all seals, so that unknown accounts take as long as known ones.
  const known = seals.filter((seal) => formTokens.matches(seal, ...sealed(id, person)));
  return known.length > 0 ? id : undefined;
}

/** The cookie that makes the browser known to the person. */
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
