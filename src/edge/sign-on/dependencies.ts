import type { SignOnServiceService } from '../../../generated/proto/integration/sign_on/v1/sign_on.js';
import type { AccessTokenVerifier } from '../../keys/access-token-verifier.js';
import type { RpcClient } from '../../rpc/client.js';
import type { PageWriter } from './page-writer.js';
import type { SessionCookieJar } from './session-cookie.js';

/** What the handlers of the sign-on server use. */
export interface SignOnDependencies {
  environment: 'live' | 'demo';
  /** The public address of this server and its endpoints. */
  signOnUrl: string;
  signOn: RpcClient<typeof SignOnServiceService>;
  /** Verifies access tokens without the store. */
  accessTokens: Pick<AccessTokenVerifier, 'verify'>;
  cookies: SessionCookieJar;
  pages: PageWriter;
}
