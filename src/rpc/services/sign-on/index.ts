import { SignOnServiceService } from '../../../../generated/proto/integration/sign_on/v1/sign_on.js';
import type { TokenIssuer } from '../../../domain/sign-on/token-issuer.js';
import { serve } from '../../handlers.js';
import { browserHandlers } from './browser.js';
import { linkHandlers } from './links.js';
import { providerHandlers } from './provider.js';
import { tokenHandlers } from './tokens.js';

/** The sign-on server's rules, for the edge. */
export function signOnService(issuer: TokenIssuer) {
  return serve(SignOnServiceService, {
    ...browserHandlers(issuer),
    ...linkHandlers(issuer),
    ...tokenHandlers(issuer),
    ...providerHandlers(issuer),
  });
}
