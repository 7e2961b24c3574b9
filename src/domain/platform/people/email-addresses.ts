import { createHash } from 'node:crypto';
import { emailAddress } from '../../../../generated/email-address.js';
import type { Violations } from '../violations.js';
import { emailKeyOf } from './email-keys.js';

/** Whether the contracts accept it. */
export function isEmailAddress(text: string): boolean {
  return text.length <= emailAddress.maxLength && emailAddress.pattern.test(text);
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
  return isEmailAddress(mailbox) ? mailbox : `${digestOf(mailbox)}@address.invalid`;
}

/** Refuses a new address that the contracts do not accept. An older one may be sent back unchanged. */
export async function checkNewEmail(
  violations: Violations,
  email: string | null | undefined,
  present: () => Promise<{ email: string } | undefined>,
): Promise<void> {
  const isNew = email !== undefined && (email === null || !isEmailAddress(email));
  if (isNew && (await present())?.email !== email) {
    violations.email('email', email ?? undefined);
  }
}

function digestOf(mailbox: string): string {
  return createHash('sha256').update(mailbox).digest('hex').slice(0, 24);
}
