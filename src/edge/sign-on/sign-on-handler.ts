import type { operations } from '../../../generated/openapi/sign-on.js';
import type { Handler, ReceivingHandler } from '../contract/typed-handler.js';
import type { SignOnDependencies } from './dependencies.js';

/** Operations whose own rules decide the order and format of errors. */
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

/** The handler of an OAuth endpoint; gets requests unvalidated. */
export type OAuthHandler<Id extends OAuthOperation> = ReceivingHandler<operations[Id], SignOnDependencies>;

/** The handler of a page; gets validated requests. */
export type PageHandler<Id extends Exclude<keyof operations, OAuthOperation>> = Handler<
  operations[Id],
  SignOnDependencies,
  unknown
>;
