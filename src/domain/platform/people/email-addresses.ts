import { createHash } from 'node:crypto';
import { emailAddress } from '../../../../generated/email-address.js';
import type { Violations } from '../violations.js';
import { emailKeyOf } from './email-keys.js';

/** Reserved by RFC 2606: no mail gets there. */
const NO_MAILBOX = '@address.invalid';

/** Whether the contracts accept it. */
export function isEmailAddress(text: string): boolean {
  return text.length <= emailAddress.maxLength && emailAddress.pattern.test(text);
}

/** Whether it stands for an older address: it may be shown, and is not one to write. */
export function isStandIn(email: string): boolean {
  return email.toLowerCase().endsWith(NO_MAILBOX);
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
 * The address that an update means. An older one may be sent back, as it is or as the contracts show it: both
 * change nothing. A new one that the contracts do not accept is refused.
 */
export async function updatedEmail<T extends string | null | undefined>(
  violations: Violations,
  email: T,
  find: () => Promise<{ email: string } | undefined>,
): Promise<T | string> {
  if (email === undefined) {
    return email;
  }
  const present = (await find())?.email;
  if (present !== undefined && [present, contractEmailOf(present)].includes(email ?? '')) {
    return present;
  }
  violations.email('email', email ?? undefined);
  return email;
}

function digestOf(mailbox: string): string {
  return createHash('sha256').update(mailbox).digest('hex').slice(0, 24);
}
