import type { Config } from '../config/config.js';
import type { IssuerClaim } from '../store/issuer.js';

/** The issuer of the settings. A demo may replace any: the applications of the old one are its own. */
export function issuerClaimOf({ ENVIRONMENT, SIGN_ON_URL, PREVIOUS_SIGN_ON_URL }: Config): IssuerClaim {
  return { issuer: SIGN_ON_URL, replaces: PREVIOUS_SIGN_ON_URL, replacesAny: ENVIRONMENT === 'demo' };
}
