import type { AccountId } from '../../../generated/ids.js';
import type { EmailChangeRows } from './email-changes.js';
import type { GrantRows } from './grants.js';
import type { LinkRows } from './links.js';
import type { NoticeRows } from './notices.js';
import type { PasswordRows } from './passwords.js';
import type { SessionRows } from './sessions.js';

/** How a person gets in, and what came of it. */
export interface CredentialRows {
  readonly passwords: PasswordRows;
  readonly links: LinkRows;
  readonly emailChanges: EmailChangeRows;
  readonly notices: NoticeRows;
  readonly sessions: SessionRows;
  readonly grants: GrantRows;
}

/** Whoever holds a session, a code or a token of the person holds nothing from here on. */
export async function endAccess(
  { sessions, grants, now }: Pick<CredentialRows, 'sessions' | 'grants'> & { now: number },
  accountId: AccountId,
): Promise<void> {
  await sessions.deleteOfAccount(accountId);
  await grants.revokeOfAccount(accountId, now);
}
