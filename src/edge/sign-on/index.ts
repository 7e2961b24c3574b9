import type { operations } from '../../../generated/openapi/sign-on.js';
import type { Handlers } from '../contract/typed-handler.js';
import type { SignOnDependencies } from './dependencies.js';
import * as endpoints from './endpoints/index.js';
import * as pages from './pages/index.js';
import type { OAuthOperation } from './sign-on-handler.js';

/** Every operation of the sign-on server. */
export const signOnHandlers: Required<
  Handlers<Omit<operations, `authorizationResponse${string}`>, SignOnDependencies, unknown, OAuthOperation>
> = { ...endpoints, ...pages };
