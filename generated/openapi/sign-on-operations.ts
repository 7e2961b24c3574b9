// Made by `make generate` from the contracts. Do not edit.

/** Every operation of the sign-on contract, by its operation id. Security: alternatives of schemes needed together. */
export const operations = {
  authorize: { method: 'get', path: '/auth/authorize', security: [], judgesItself: true },
  authorizePost: { method: 'post', path: '/auth/authorize', security: [], judgesItself: true },
  token: { method: 'post', path: '/auth/token', security: [["clientBasic"],[]], judgesItself: true },
  userinfo: { method: 'get', path: '/auth/userinfo', security: [["accessToken"]], judgesItself: true },
  userinfoPost: { method: 'post', path: '/auth/userinfo', security: [["accessToken"],[]], judgesItself: true },
  discovery: { method: 'get', path: '/.well-known/openid-configuration', security: [], judgesItself: true },
  jwks: { method: 'get', path: '/.well-known/jwks.json', security: [], judgesItself: true },
  revoke: { method: 'post', path: '/auth/revoke', security: [["clientBasic"],[]], judgesItself: true },
  introspect: { method: 'post', path: '/auth/introspect', security: [["clientBasic"],[]], judgesItself: true },
  logout: { method: 'get', path: '/auth/logout', security: [], judgesItself: true },
  logoutPost: { method: 'post', path: '/auth/logout', security: [], judgesItself: true },
  showSignIn: { method: 'get', path: '/auth/sign-in', security: [] },
  signIn: { method: 'post', path: '/auth/sign-in', security: [] },
  cancelSignIn: { method: 'post', path: '/auth/cancel', security: [] },
  showContexts: { method: 'get', path: '/auth/choose-context', security: [] },
  chooseContext: { method: 'post', path: '/auth/choose-context', security: [] },
  showConsent: { method: 'get', path: '/auth/consent', security: [] },
  consent: { method: 'post', path: '/auth/consent', security: [] },
  showSetPassword: { method: 'get', path: '/auth/set-password', security: [] },
  setPassword: { method: 'post', path: '/auth/set-password', security: [] },
  showPasswordSet: { method: 'get', path: '/auth/password-set', security: [] },
  showVerifyEmail: { method: 'get', path: '/auth/verify-email', security: [] },
  verifyEmail: { method: 'post', path: '/auth/verify-email', security: [] },
  showEmailVerified: { method: 'get', path: '/auth/email-verified', security: [] },
  showChangeEmail: { method: 'get', path: '/auth/change-email', security: [] },
  changeEmail: { method: 'post', path: '/auth/change-email', security: [] },
  showEmailChanged: { method: 'get', path: '/auth/email-changed', security: [] },
  showSignOut: { method: 'get', path: '/auth/sign-out', security: [] },
  signOut: { method: 'post', path: '/auth/sign-out', security: [] },
  showSignedOut: { method: 'get', path: '/auth/signed-out', security: [] },
} as const;

export type OperationId = keyof typeof operations;
