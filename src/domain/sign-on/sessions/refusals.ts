import type { AuditParty } from '../../operator/audit.js';
import type { SignOn } from '../sign-on.js';
import type { SignOnChanges } from '../unit-of-work.js';
import { actorIn, auditIn, type Browser } from './browser.js';

interface Refusal {
  type: 'sign_in' | 'email.changed';
  /** Where the attempt was made: an application, or the account of a link. */
  party: AuditParty;
  /** Without one, the party. */
  subject?: AuditParty;
  reason: 'credentials' | 'too_many_attempts';
}

/**
 * Records a refusal that strangers can cause. Beyond the limit of the node it is counted with equal ones, so
 * that they do not fill the audit log, and opens no write. `changes` are those of an open write, if any.
 */
export async function recordRefusal(
  { refusalRecords, observe, unitOfWork }: SignOn,
  browser: Browser,
  { type, party, subject = party, reason }: Refusal,
  changes?: Pick<SignOnChanges, 'audit'>,
): Promise<void> {
  const refusal = { type, outcome: 'refused' as const, subject, attributes: { reason } };
  // One for all: networks, addresses and accounts are many.
  if (!refusalRecords.take('').allowed) {
    observe({ ...refusal, actor: actorIn(browser, party) });
  } else if (changes) {
    await auditIn(changes, browser, party, refusal);
  } else {
    await unitOfWork.run((write) => auditIn(write, browser, party, refusal));
  }
}
