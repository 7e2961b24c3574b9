import type { ConsentKey } from '../domain/credentials/consents.js';
import type { EmailChange } from '../domain/credentials/email-changes.js';
import type { Grant } from '../domain/credentials/grants.js';
import type { AccountLink } from '../domain/credentials/links.js';
import type { AccountNotice } from '../domain/credentials/notices.js';
import type { LoginContext, Session } from '../domain/credentials/sessions.js';
import type { AuthorizationCode } from '../domain/sign-on/authorization/codes.js';
import type { SigningKey } from '../domain/sign-on/keys/signing-keys.js';
import type { Columns } from './columns.js';

/** Tables of sign-on, from migrations 0004 and 0009. */
export interface SignOnSchema {
  /** Argon2id in its standard text form, with parameters and salt. */
  passwords: { account_id: string; hash: string; set_at: number };
  account_links: Columns<AccountLink>;
  email_changes: Columns<EmailChange>;
  account_notices: Columns<AccountNotice>;
  sessions: SessionsTable;
  /** An authorization or sign-out that has ended, so that it ends once. Those in progress have no row. */
  finished_interactions: { id: string; expires_at: number };
  /** The scopes are a JSON array. */
  consents: Columns<ConsentKey> & { scopes: string; given_at: number };
  /** The last context of a person on an instance. */
  login_contexts: Columns<LoginContext> & { account_id: string; instance_id: string; used_at: number };
  authorization_codes: AuthorizationCodesTable;
  code_minutes: CodeMinutesTable;
  /** The scopes are separated by spaces, as in tokens. */
  grants: Columns<Grant>;
  attempt_counts: AttemptCountsTable;
  signing_keys: Columns<SigningKey>;
}

interface SessionsTable extends Columns<Omit<Session, 'account'>> {
  account_id: string | null;
  authenticated_at: number | null;
  /** The contexts that the person chose since the sign-in, in JSON; null without one. */
  contexts: string | null;
}

/** The scopes are separated by spaces, as in tokens. */
interface AuthorizationCodesTable extends Columns<Omit<AuthorizationCode, 'context'>> {
  /** Not read; see its constant. */
  requested_claims: string;
  context_user_type: LoginContext['userType'];
  context_client_id: string;
  /** When the minute of its issue began. */
  minute: number;
}

/** A minute in which codes were issued. */
interface CodeMinutesTable {
  minute: number;
  /** When the last of them expires. */
  expires_at: number;
  /** When a workflow began to watch it. */
  watched_at: number | null;
}

/** The count of attempts in the window that ends at `ends_at`. */
interface AttemptCountsTable {
  subject: string;
  count: number;
  ends_at: number;
  /** When the newest attempt may be made, where attempts wait for turns; otherwise 0. */
  next_at: number;
}
