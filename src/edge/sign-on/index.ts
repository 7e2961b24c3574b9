import type { operations } from '../../../generated/openapi/sign-on.js';
import type { Handlers } from '../contract/typed-handler.js';

/** Every operation of the sign-on server that is implemented. */
export const signOnHandlers: Handlers<operations, object, unknown> = {};
