import { type AuditParty, STRANGER } from '../../operator/audit.js';
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
 * Records a refusal that strangers can cause. Beyond the limit of the node it is counted with equal ones, as
 * one of a stranger, so that they fill neither the audit log nor the counts of others, and opens no write.
 */
export async function recordRefusal(
  { refusalRecords, observe, unitOfWork }: SignOn,
  browser: Browser,
  { type, party, subject = party, reason }: Refusal,
): Promise<void> {
  const refusal = { type, outcome: 'refused' as const, subject };
  // By reason, so that wrong passwords hide no guessing. Networks, addresses and accounts are many.
  if (refusalRecords.take(reason).allowed) {
    // The signal of the call has no say: who leaves before the answer has guessed too.
    await unitOfWork.run(
      (changes) => auditIn(changes, browser, party, { ...refusal, attributes: { reason } }),
      { signal: undefined },
    );
    return;
  }
  const where: Record<string, string> = party.type === 'application' ? { application_id: party.id } : {};
  observe({ ...refusal, actor: actorIn(browser, STRANGER), attributes: { reason, ...where } });
}
