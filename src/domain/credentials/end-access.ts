import type { AccountId } from '../../../generated/ids.js';
import type { ConsentKey, ConsentRows } from './consents.js';
import type { EmailChangeRows } from './email-changes.js';
import type { GrantRows } from './grants.js';
import type { LinkRows } from './links.js';
import type { NoticeRows } from './notices.js';
import type { PasswordRows } from './passwords.js';
import type { SessionRows } from './sessions.js';

/** Credentials of a person, and what they opened. */
export interface CredentialRows {
  readonly passwords: PasswordRows;
  readonly links: LinkRows;
  readonly emailChanges: EmailChangeRows;
  readonly notices: NoticeRows;
  readonly sessions: SessionRows;
  readonly grants: GrantRows;
  readonly consents: ConsentRows;
}

/** Ends all sessions, codes and tokens of the person. */
export async function endAccess(
  { sessions, grants, now }: Pick<CredentialRows, 'sessions' | 'grants'> & { now: number },
  accountId: AccountId,
): Promise<void> {
  await sessions.deleteOfAccount(accountId);
  await grants.revokeOfAccount(accountId, now);
}

/** Ends the consent, codes and tokens of one application on one instance. Returns whether there were any. */
export async function endAccessOf(
  { consents, grants, now }: Pick<CredentialRows, 'consents' | 'grants'> & { now: number },
  key: ConsentKey,
): Promise<boolean> {
  const hadConsent = await consents.withdraw(key);
  return (await grants.revokeOfApplication(key, now)) || hadConsent;
}
