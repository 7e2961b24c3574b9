/** The tables of signing in, which migration 0004 began and 0009 went on with. */
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

/** Argon2id in the usual text form, with its parameters and salt. */
interface PasswordsTable {
  account_id: string;
  hash: string;
  set_at: number;
}

/** What was mailed to set a password or to show that an address is somebody's. */
interface AccountLinksTable {
  token_hash: string;
  account_id: string;
  purpose: 'invitation' | 'reset' | 'verify_email';
  /** Where it was mailed to: it is good for nothing once the account has another address. */
  email_key: string;
  created_at: number;
  expires_at: number;
  ended_at: number | null;
}

/** An address that waits for its proof: at most one for each account and asker. */
interface EmailChangesTable {
  account_id: string;
  /** A client, or `platform`. */
  asker: string;
  email: string;
  asked_at: number;
  link_hash: string | null;
  expires_at: number;
}

/** What waits to be mailed by the platform. */
interface AccountNoticesTable {
  id: string;
  kind: 'email_changed';
  account_id: string;
  /** Where it is mailed to: the address before. */
  email: string;
  created_at: number;
}

/** A browser in which somebody is signed in. The hash is its cookie's, replaced at each sign-in. */
interface SessionsTable {
  id: string;
  token_hash: string;
  /** The hash of the cookie that the browser had before, so that its other tabs go on. */
  began_as: string | null;
  account_id: string | null;
  authenticated_at: number | null;
  last_seen_at: number;
  expires_at: number;
}

/** An authorization or a sign-out that has ended, so that it does not end twice. Those under way have no row. */
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

/** What a person was when they last signed in on an instance. */
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
  /** Separated by spaces, as tokens carry them. */
  scopes: string;
  code_challenge: string | null;
  nonce: string | null;
  /** JSON. */
  requested_claims: string;
  /** What the person signed in as. */
  context_user_type: 'WORKER' | 'USER';
  context_client_id: string;
  authenticated_at: number;
  /** Of the session in which it was issued; null for codes of before this was kept. */
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
  /** When the last of them is over. */
  expires_at: number;
  /** When a workflow was known to watch it. */
  watched_at: number | null;
}

/** What a person gave an application: the family of its refresh tokens, and what its access tokens hang on. */
interface GrantsTable {
  id: string;
  application_id: string;
  account_id: string;
  instance_id: string;
  /** Separated by spaces, as tokens carry them. */
  scopes: string;
  authenticated_at: number;
  /** Of the session in which the person gave it; the session may be over. Null for grants of before this was kept. */
  session_id: string | null;
  /** Of the one refresh token that is good. */
  generation: number;
  rotated_at: number;
  /** Null where the application may not refresh. */
  refresh_expires_at: number | null;
  /** The refresh tokens end then, however often they are rotated. Null where the application may not refresh. */
  refresh_ends_at: number | null;
  /** When the last of its tokens is over. */
  expires_at: number;
  revoked_at: number | null;
}

/** How often something was tried in the window that ends at `ends_at`. */
interface AttemptCountsTable {
  subject: string;
  count: number;
  ends_at: number;
  /** When the newest try may be made, where each waits for its turn; 0 elsewhere. */
  next_at: number;
}

interface SigningKeysTable {
  kid: string;
  algorithm: 'RS256' | 'ES256' | 'EdDSA';
  /** JSON. */
  public_jwk: string;
  /** Encrypted with the key that stands outside the database. */
  sealed_private_key: string;
  created_at: number;
  activates_at: number;
  superseded_at: number | null;
  /** When its last token is over; set when it is superseded. */
  retires_at: number | null;
  retired_at: number | null;
}
