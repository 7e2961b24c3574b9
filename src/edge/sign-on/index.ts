/** The handlers of the sign-on server, by operation id. */
export { authorize, authorizePost } from './endpoints/authorize.js';
export { introspect } from './endpoints/introspect.js';
export { logout, logoutPost } from './endpoints/logout.js';
export { discovery, jwks } from './endpoints/published.js';
export { revoke } from './endpoints/revoke.js';
export { token } from './endpoints/token.js';
export { userinfo, userinfo as userinfoPost } from './endpoints/userinfo.js';
export * from './pages/forms.js';
export * from './pages/shown.js';
