/** The handlers of the protocol endpoints, by operation id. */
export { authorize } from './authorize.js';
export { authorizePost } from './authorizePost.js';
export { discovery } from './discovery.js';
export { introspect } from './introspect.js';
export { jwks } from './jwks.js';
export { logout } from './logout.js';
export { logoutPost } from './logoutPost.js';
export { revoke } from './revoke.js';
export { token } from './token.js';
export { userinfo, userinfo as userinfoPost } from './userinfo.js';
