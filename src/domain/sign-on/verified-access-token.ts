import type { TokenIssuer } from './token-issuer.js';

/** An access token whose signature, type, issuer, audience and expiry were verified where it came in. */
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

/** Whoever verified it may not have heard yet that its key was withdrawn, or may have taken a while to ask. */
export async function stillCounts(
  { keys, clock }: Pick<TokenIssuer, 'keys' | 'clock'>,
  { kid, expiresAt }: VerifiedAccessToken,
): Promise<boolean> {
  return expiresAt > clock() && (await keys.isKnown(kid));
}
