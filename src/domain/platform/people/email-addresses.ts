import { createHash } from 'node:crypto';
import { emailAddress } from '../../../../generated/email-address.js';
import { isLonger } from '../../characters.js';
import { changedMeanwhile } from '../changes.js';
import type { Violations } from '../violations.js';
import { emailKeyOf } from './email-keys.js';

/** Domains reserved by RFC 2606: no mail gets there. */
const NO_MAILBOX = '@address.invalid';
const ERASED = '@erased.invalid';
/** The limit of the sign-in: with a longer address no person signs in. */
const MAX_OLDER_LENGTH = 320;
/** Control characters and lone surrogates: the databases do not all take them. */
const UNSAFE = /[\p{Cc}\p{Cs}]/u;

/** Whether the contracts accept it. */
export function isEmailAddress(text: string): boolean {
  return text.length <= emailAddress.maxLength && emailAddress.pattern.test(text);
}

/** Whether it stands for an older address or for an erased one: it may be shown, and is not one to write. */
export function isStandIn(email: string): boolean {
  const folded = email.toLowerCase();
  return folded.endsWith(NO_MAILBOX) || folded.endsWith(ERASED);
}

/** What replaces the address of an erased account or worker. */
export function erasedEmailOf(id: string): string {
  return `erased-${id}${ERASED}`;
}

/** Known by its address, which no write accepts. */
export function isErased({ id, email }: { id: string; email: string }): boolean {
  return email === erasedEmailOf(id);
}

/** Whether the text may be an address from before the rule. */
export function mayBeOlder(text: string): boolean {
  const isSafe = !isLonger(text, MAX_OLDER_LENGTH) && !UNSAFE.test(text);
  return isSafe && !isEmailAddress(text) && !isStandIn(text);
}

/**
 * What the contracts show of an address. One from before their rule is shown as a valid spelling of its
 * mailbox, otherwise as one that reaches no mailbox and is the same each time.
 */
export function contractEmailOf(email: string): string {
  if (isEmailAddress(email)) {
    return email;
  }
  const mailbox = emailKeyOf(email);
  return isEmailAddress(mailbox) ? mailbox : `${digestOf(mailbox)}${NO_MAILBOX}`;
}

/**
 * The address that an update names. The present one may be sent back, also if it is older than the rule. The
 * stand-in of the present one names none. All others are new, and refused if the contracts do not accept
 * them.
 */
export async function updatedEmail(
  violations: Violations,
  email: string | undefined,
  find: () => Promise<{ email: string } | undefined>,
): Promise<string | undefined> {
  if (email === undefined) {
    return email;
  }
  const present = (await find())?.email;
  if (email === present) {
    return email;
  }
  if (present !== undefined && email === contractEmailOf(present) && isStandIn(email)) {
    return undefined;
  }
  violations.email('email', email);
  return email;
}

/** Under the lock: an older address that was sent back must not replace a newer one. */
export function refuseReplaced(present: string, email: string): void {
  if (email !== present && (!isEmailAddress(email) || isStandIn(email))) {
    throw changedMeanwhile();
  }
}

function digestOf(mailbox: string): string {
  return createHash('sha256').update(mailbox).digest('hex').slice(0, 24);
}
