import type { SignOnServiceService } from '../../../generated/proto/integration/sign_on/v1/sign_on.js';
import type { VerifiedAccessToken } from '../../../generated/proto/integration/sign_on/v1/tokens.js';
import type { RpcClient } from '../../rpc/client.js';
import type { PageWriter } from './page-writer.js';
import type { SessionCookieJar } from './session-cookie.js';

/** Verifies access tokens without the store. */
export interface AccessTokens {
  /** Undefined for anything but a valid access token of this server. */
  verify(token: string): Promise<VerifiedAccessToken | undefined>;
}

/** What the handlers of the sign-on server use. */
export interface SignOnDependencies {
  environment: 'live' | 'demo';
  /** The public address of this server and its endpoints. */
  signOnUrl: string;
  signOn: RpcClient<typeof SignOnServiceService>;
  accessTokens: AccessTokens;
  cookies: SessionCookieJar;
  pages: PageWriter;
}
