import type { TokenIssuer } from './token-issuer.js';

/** An access token that was verified where it arrived. */
export interface VerifiedAccessToken {
  kid: string;
  tokenId: string;
  grantId: string;
  /** The application it was issued to. */
  clientId: string;
  accountId: string;
  scopes: readonly string[];
  issuedAt: number;
  expiresAt: number;
}

/** Checks again: its verifier may have missed that the key was withdrawn, or be late. */
export async function stillCounts(
  { keys, clock }: Pick<TokenIssuer, 'keys' | 'clock'>,
  { kid, expiresAt }: VerifiedAccessToken,
): Promise<boolean> {
  return expiresAt > clock() && (await keys.isKnown(kid));
}
