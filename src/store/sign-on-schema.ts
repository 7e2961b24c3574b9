/** Tables of sign-on, from migrations 0004 and 0009. */
export interface SignOnSchema {
  passwords: PasswordsTable;
  account_links: AccountLinksTable;
  email_changes: EmailChangesTable;
  account_notices: AccountNoticesTable;
  sessions: SessionsTable;
  finished_interactions: FinishedInteractionsTable;
  consents: ConsentsTable;
  login_contexts: LoginContextsTable;
  authorization_codes: AuthorizationCodesTable;
  code_minutes: CodeMinutesTable;
  grants: GrantsTable;
  attempt_counts: AttemptCountsTable;
  signing_keys: SigningKeysTable;
}

/** Argon2id in its standard text form, with parameters and salt. */
interface PasswordsTable {
  account_id: string;
  hash: string;
  set_at: number;
}

/** A mailed link to set a password or to verify an address. */
interface AccountLinksTable {
  token_hash: string;
  account_id: string;
  purpose: 'invitation' | 'reset' | 'verify_email';
  /** The address it was mailed to: the link is invalid once the account has another. */
  email_key: string;
  created_at: number;
  expires_at: number;
  ended_at: number | null;
}

/** An address that awaits its proof: at most one per account and asker. */
interface EmailChangesTable {
  account_id: string;
  /** A client, or `platform`. */
  asker: string;
  email: string;
  asked_at: number;
  link_hash: string | null;
  expires_at: number;
}

/** Notices that the platform has to mail. */
interface AccountNoticesTable {
  id: string;
  kind: 'email_changed';
  account_id: string;
  /** The recipient: the previous address. */
  email: string;
  created_at: number;
}

/** A browser in which a person is signed in. Each sign-in replaces the hash of its cookie. */
interface SessionsTable {
  id: string;
  token_hash: string;
  /** The hash of the browser's earlier cookie, so that its other tabs continue. */
  began_as: string | null;
  account_id: string | null;
  authenticated_at: number | null;
  /** The contexts that the person chose, in JSON, with the time of the sign-in; null without one. */
  contexts: string | null;
  last_seen_at: number;
  expires_at: number;
}

/** An authorization or sign-out that has ended, so that it ends once. Those in progress have no row. */
interface FinishedInteractionsTable {
  id: string;
  expires_at: number;
}

interface ConsentsTable {
  account_id: string;
  application_id: string;
  instance_id: string;
  /** A JSON array. */
  scopes: string;
  given_at: number;
}

/** The last context of a person on an instance. */
interface LoginContextsTable {
  account_id: string;
  instance_id: string;
  user_type: 'WORKER' | 'USER';
  client_id: string;
  used_at: number;
}

interface AuthorizationCodesTable {
  hash: string;
  /** The grant that its redemption makes. */
  grant_id: string;
  application_id: string;
  account_id: string;
  instance_id: string;
  redirect_uri: string;
  /** Separated by spaces, as in tokens. */
  scopes: string;
  code_challenge: string | null;
  nonce: string | null;
  /** JSON. */
  requested_claims: string;
  /** The context of the sign-in. */
  context_user_type: 'WORKER' | 'USER';
  context_client_id: string;
  authenticated_at: number;
  /** The session that issued it; null for older codes. */
  session_id: string | null;
  status: 'ISSUED' | 'REDEEMED' | 'EXPIRED';
  /** When the minute of its issue began. */
  minute: number;
  issued_at: number;
  expires_at: number;
}

/** A minute in which codes were issued. */
interface CodeMinutesTable {
  minute: number;
  /** When the last of them expires. */
  expires_at: number;
  /** When a workflow began to watch it. */
  watched_at: number | null;
}

/** A person's approval for an application: the basis of its tokens, and a family of refresh tokens. */
interface GrantsTable {
  id: string;
  application_id: string;
  account_id: string;
  instance_id: string;
  /** Separated by spaces, as in tokens. */
  scopes: string;
  authenticated_at: number;
  /** The session in which it was given, which may have ended. Null for older grants. */
  session_id: string | null;
  /** The generation of its only valid refresh token. */
  generation: number;
  rotated_at: number;
  /** Null where the application may not refresh. */
  refresh_expires_at: number | null;
  /** When its refresh tokens end regardless of rotations. Null where the application may not refresh. */
  refresh_ends_at: number | null;
  /** When the last of its tokens expires. */
  expires_at: number;
  revoked_at: number | null;
}

/** The count of attempts in the window that ends at `ends_at`. */
interface AttemptCountsTable {
  subject: string;
  count: number;
  ends_at: number;
  /** When the newest attempt may be made, where attempts wait for turns; otherwise 0. */
  next_at: number;
}

interface SigningKeysTable {
  kid: string;
  algorithm: 'RS256' | 'ES256' | 'EdDSA';
  /** JSON. */
  public_jwk: string;
  /** Encrypted with a key outside the database. */
  sealed_private_key: string;
  created_at: number;
  activates_at: number;
  superseded_at: number | null;
  /** When its last token expires; set when it is superseded. */
  retires_at: number | null;
  retired_at: number | null;
}
