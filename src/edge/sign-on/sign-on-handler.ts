import type { operations } from '../../../generated/openapi/sign-on.js';
import type { Handler, ReceivingHandler } from '../contract/typed-handler.js';
import type { SignOnDependencies } from './dependencies.js';

/** Those whose own rules decide what is wrong with a request, in which order and in which form. */
export const oauthOperations = [
  'authorize',
  'authorizePost',
  'token',
  'userinfo',
  'userinfoPost',
  'discovery',
  'jwks',
  'revoke',
  'introspect',
  'logout',
  'logoutPost',
] as const satisfies (keyof operations)[];

export type OAuthOperation = (typeof oauthOperations)[number];

/** The handler of an endpoint of OAuth, which gets requests as they came. */
export type OAuthHandler<Id extends OAuthOperation> = ReceivingHandler<operations[Id], SignOnDependencies>;

/** The handler of a page, which gets what satisfied the document. */
export type PageHandler<Id extends Exclude<keyof operations, OAuthOperation>> = Handler<
  operations[Id],
  SignOnDependencies,
  unknown
>;
