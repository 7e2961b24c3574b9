import type { operations } from '../../../generated/openapi/sign-on.js';
import type { OperationId, operations as table } from '../../../generated/openapi/sign-on-operations.js';
import type { SignOnServiceService } from '../../../generated/proto/integration/sign_on/v1/sign_on.js';
import type { AccessTokenVerifier } from '../../keys/access-token-verifier.js';
import type { RpcClient } from '../../rpc/client.js';
import type { Handler, ReceivingHandler } from '../contract/typed-handler.js';
import type { SessionCookieJar } from './browser.js';
import type { PageWriter } from './page-writer.js';

/** Operations whose own rules decide the order and format of errors. */
export type OAuthOperation = {
  [Id in OperationId]: (typeof table)[Id] extends { judgesItself: true } ? Id : never;
}[OperationId];

/** The handler of an OAuth endpoint; gets requests unvalidated. */
export type OAuthHandler<Id extends OAuthOperation> = ReceivingHandler<operations[Id], SignOnDependencies>;

/** The handler of a page; gets validated requests. */
export type PageHandler<Id extends Exclude<keyof operations, OAuthOperation>> = Handler<
  operations[Id],
  SignOnDependencies,
  unknown
>;

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

/** Of answers with tokens, claims or errors; old caches heed the second (RFC 6749, section 5.1). */
export const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const;
