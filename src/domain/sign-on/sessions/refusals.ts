import type { AccountId } from '../../../../generated/ids.js';
import { type AuditParty, STRANGER } from '../../operator/audit.js';
import type { AuthorizationRequest } from '../interaction/interactions.js';
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
 * Records a refusal that strangers can cause. Beyond the limit of this node it opens no write: the tally
 * counts it as an act of a stranger, so that these refusals fill neither the audit log nor the counts of
 * others.
 */
export async function recordRefusal(
  { refusalRecords, observe, unitOfWork }: SignOn,
  browser: Browser,
  { type, party, subject = party, reason }: Refusal,
): Promise<void> {
  const refusal = { type, outcome: 'refused' as const, subject };
  // One limit per reason, so that a flood of wrong passwords hides no reached limit. One per network, address
  // or account would bound nothing: attackers have many.
  if (refusalRecords.take(reason).allowed) {
    // Without the signal of the call: the refusal is recorded even if the caller disconnects.
    await unitOfWork.run(
      (changes) => auditIn(changes, browser, party, { ...refusal, attributes: { reason } }),
      { signal: undefined },
    );
    return;
  }
  const where: Record<string, string> = party.type === 'application' ? { application_id: party.id } : {};
  observe({ ...refusal, actor: actorIn(browser, STRANGER), attributes: { reason, ...where } });
}

/** Counts a signed-in person without access on the instance. Does not write to the database. */
export function observeNoAccess(
  { observe }: Pick<SignOn, 'observe'>,
  browser: Browser,
  accountId: AccountId,
  { applicationId, instanceId }: Pick<AuthorizationRequest, 'applicationId' | 'instanceId'>,
): void {
  observe({
    type: 'sign_in',
    outcome: 'refused',
    actor: actorIn(browser, { type: 'account', id: accountId }),
    subject: { type: 'application', id: applicationId },
    attributes: { reason: 'no_access', instance_id: instanceId },
  });
}
