import type { AccountId } from '../../../generated/ids.js';
import { newSecret, storedHash } from '../../identifiers/random-secrets.js';
import { emailKeyOf } from '../platform/people/email-keys.js';
import type { Account } from '../platform/rows/people.js';
import type { Violations } from '../platform/violations.js';

export const LINK_PURPOSES = ['invitation', 'reset', 'verify_email'] as const;

export type LinkPurpose = (typeof LINK_PURPOSES)[number];

/** A mailed link; only the mail has the token. */
export interface AccountLink {
  tokenHash: string;
  accountId: AccountId;
  purpose: LinkPurpose;
  /** The address it was mailed to: the link is invalid once the account has another. */
  emailKey: string;
  createdAt: number;
  expiresAt: number;
  /** When it was used, or replaced by a newer one. */
  endedAt: number | null;
}

export interface LinkRows {
  find(tokenHash: string): Promise<AccountLink | undefined>;
  insert(link: AccountLink): Promise<void>;
  /** One conditional statement: of concurrent uses, one returns true. An expired link returns false. */
  use(tokenHash: string, now: number): Promise<boolean>;
  endOfAccount(accountId: AccountId, purposes: readonly LinkPurpose[], now: number): Promise<void>;
}

const HOUR_SECONDS = 3_600;
export const DAY_SECONDS = 24 * HOUR_SECONDS;

const LONGEST_SECONDS = 30 * DAY_SECONDS;

const DEFAULT_SECONDS: Record<LinkPurpose, number> = {
  invitation: 7 * DAY_SECONDS,
  reset: HOUR_SECONDS,
  verify_email: DAY_SECONDS,
};

export interface NewLink {
  /** For the mailed address; only its hash is stored. */
  token: string;
  expiresAt: number;
}

export function validateLinkLifetime(violations: Violations, seconds = LONGEST_SECONDS): void {
  if (!(seconds >= 1 && seconds <= LONGEST_SECONDS)) {
    violations.add('lifetime_seconds', `must be between 1 and ${LONGEST_SECONDS}`);
  }
}

/** Makes a link for a locked account. Earlier links of the same purpose become invalid. */
export async function makeLink(
  { links, now }: { links: LinkRows; now: number },
  account: Pick<Account, 'id' | 'email'>,
  { purpose, lifetimeSeconds }: { purpose: LinkPurpose; lifetimeSeconds: number | undefined },
): Promise<NewLink> {
  const token = newSecret();
  const expiresAt = now + (lifetimeSeconds ?? DEFAULT_SECONDS[purpose]) * 1_000;
  await links.endOfAccount(account.id, [purpose], now);
  await links.insert({
    tokenHash: storedHash(token),
    accountId: account.id,
    purpose,
    emailKey: emailKeyOf(account.email),
    createdAt: now,
    expiresAt,
    endedAt: null,
  });
  return { token, expiresAt };
}
