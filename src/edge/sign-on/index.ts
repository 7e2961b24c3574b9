import type { operations } from '../../../generated/openapi/sign-on.js';
import type { Handlers } from '../contract/typed-handler.js';
import { authorize } from './authorize.js';
import { authorizePost } from './authorizePost.js';
import { changeEmail } from './changeEmail.js';
import { chooseContext } from './chooseContext.js';
import { consent } from './consent.js';
import type { SignOnDependencies } from './dependencies.js';
import { discovery } from './discovery.js';
import { introspect } from './introspect.js';
import { jwks } from './jwks.js';
import { logout } from './logout.js';
import { logoutPost } from './logoutPost.js';
import { revoke } from './revoke.js';
import { setPassword } from './setPassword.js';
import { showChangeEmail } from './showChangeEmail.js';
import { showConsent } from './showConsent.js';
import { showContexts } from './showContexts.js';
import { showEmailChanged } from './showEmailChanged.js';
import { showEmailVerified } from './showEmailVerified.js';
import { showPasswordSet } from './showPasswordSet.js';
import { showSetPassword } from './showSetPassword.js';
import { showSignedOut } from './showSignedOut.js';
import { showSignIn } from './showSignIn.js';
import { showSignOut } from './showSignOut.js';
import { showVerifyEmail } from './showVerifyEmail.js';
import type { OAuthOperation } from './sign-on-handler.js';
import { signIn } from './signIn.js';
import { signOut } from './signOut.js';
import { token } from './token.js';
import { userinfo } from './userinfo.js';
import { userinfoPost } from './userinfoPost.js';
import { verifyEmail } from './verifyEmail.js';

/** Every operation of the sign-on server. */
export const signOnHandlers: Required<
  Handlers<Omit<operations, 'authorizationResponse'>, SignOnDependencies, unknown, OAuthOperation>
> = {
  authorize,
  authorizePost,
  changeEmail,
  chooseContext,
  consent,
  discovery,
  introspect,
  jwks,
  logout,
  logoutPost,
  revoke,
  setPassword,
  showChangeEmail,
  showConsent,
  showContexts,
  showEmailChanged,
  showEmailVerified,
  showPasswordSet,
  showSetPassword,
  showSignedOut,
  showSignIn,
  showSignOut,
  showVerifyEmail,
  signIn,
  signOut,
  token,
  userinfo,
  userinfoPost,
  verifyEmail,
};
