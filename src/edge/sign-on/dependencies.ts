import type { SignOnServiceService } from '../../../generated/proto/integration/sign_on/v1/sign_on.js';
import type { VerifiedAccessToken } from '../../../generated/proto/integration/sign_on/v1/tokens.js';
import type { RpcClient } from '../../rpc/client.js';
import type { PageWriter } from './page-writer.js';
import type { SessionCookieJar } from './session-cookie.js';

/** Checks what can be checked of an access token without the store. */
export interface AccessTokens {
  /** Undefined for whatever is no access token of this server in its time. */
  verify(token: string): Promise<VerifiedAccessToken | undefined>;
}

/** What the handlers of the sign-on server work with. */
export interface SignOnDependencies {
  environment: 'live' | 'demo';
  /** The public address of this server, under which its endpoints are. */
  signOnUrl: string;
  signOn: RpcClient<typeof SignOnServiceService>;
  accessTokens: AccessTokens;
  cookies: SessionCookieJar;
  pages: PageWriter;
}
