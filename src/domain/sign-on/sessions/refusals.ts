import type { AuditParty } from '../../operator/audit.js';
import type { SignOn } from '../sign-on.js';
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
 * that they do not fill the audit log, and opens no write.
 */
export async function recordRefusal(
  { refusalRecords, observe, unitOfWork }: SignOn,
  browser: Browser,
  { type, party, subject = party, reason }: Refusal,
): Promise<void> {
  const refusal = { type, outcome: 'refused' as const, subject, attributes: { reason } };
  // One for all: networks, addresses and accounts are many.
  if (!refusalRecords.take('').allowed) {
    observe({ ...refusal, actor: actorIn(browser, party) });
  } else {
    // The signal of the call has no say: who leaves before the answer has guessed too.
    await unitOfWork.run((changes) => auditIn(changes, browser, party, refusal), { signal: undefined });
  }
}
