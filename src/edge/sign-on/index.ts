import type { operations } from '../../../generated/openapi/sign-on.js';
import type { Handlers } from '../contract/typed-handler.js';
import type { SignOnDependencies } from './dependencies.js';
import { authorize } from './endpoints/authorize.js';
import { authorizePost } from './endpoints/authorizePost.js';
import { discovery } from './endpoints/discovery.js';
import { introspect } from './endpoints/introspect.js';
import { jwks } from './endpoints/jwks.js';
import { logout } from './endpoints/logout.js';
import { logoutPost } from './endpoints/logoutPost.js';
import { revoke } from './endpoints/revoke.js';
import { token } from './endpoints/token.js';
import { userinfo } from './endpoints/userinfo.js';
import { userinfoPost } from './endpoints/userinfoPost.js';
import { cancelSignIn } from './pages/cancelSignIn.js';
import { changeEmail } from './pages/changeEmail.js';
import { chooseContext } from './pages/chooseContext.js';
import { consent } from './pages/consent.js';
import { setPassword } from './pages/setPassword.js';
import { showChangeEmail } from './pages/showChangeEmail.js';
import { showConsent } from './pages/showConsent.js';
import { showContexts } from './pages/showContexts.js';
import { showEmailChanged } from './pages/showEmailChanged.js';
import { showEmailVerified } from './pages/showEmailVerified.js';
import { showPasswordSet } from './pages/showPasswordSet.js';
import { showSetPassword } from './pages/showSetPassword.js';
import { showSignedOut } from './pages/showSignedOut.js';
import { showSignIn } from './pages/showSignIn.js';
import { showSignOut } from './pages/showSignOut.js';
import { showVerifyEmail } from './pages/showVerifyEmail.js';
import { signIn } from './pages/signIn.js';
import { signOut } from './pages/signOut.js';
import { verifyEmail } from './pages/verifyEmail.js';
import type { OAuthOperation } from './sign-on-handler.js';

/** Every operation of the sign-on server. */
export const signOnHandlers: Required<
  Handlers<Omit<operations, `authorizationResponse${string}`>, SignOnDependencies, unknown, OAuthOperation>
> = {
  authorize,
  authorizePost,
  cancelSignIn,
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
