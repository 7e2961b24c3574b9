import { basicOf } from '../../attacks/attacked-service.js';
import { hiddenFields } from '../../attacks/user-agent.js';
import type { Exchange } from '../../support/http-exchange.js';
import type { CoveredService } from './covered-service.js';
import {
  type AtPage,
  accessToken,
  atChangeEmail,
  atConsent,
  atContexts,
  atSetPassword,
  atSignIn,
  atSignOut,
  atVerifyEmail,
  setPassword,
  signIn,
} from './sign-on-walks.js';

type Ask = (service: CoveredService) => Promise<Exchange>;

const open =
  (path: string): Ask =>
  ({ signOn }) =>
    signOn.userAgent().ask(path);

const page =
  (walk: (service: CoveredService) => Promise<AtPage>): Ask =>
  async (service) =>
    (await walk(service)).page;

/** Another page than the one at which the person is: it leads there. */
const elsewhere =
  (path: string, walk: (service: CoveredService) => Promise<AtPage>): Ask =>
  async (service) => {
    const { userAgent, fields } = await walk(service);
    return userAgent.ask(`${path}?interaction=${fields.interaction}`);
  };

const pressed =
  (
    path: string,
    walk: (service: CoveredService) => Promise<AtPage>,
    more: (at: AtPage) => object = () => ({}),
  ): Ask =>
  async (service) => {
    const at = await walk(service);
    return at.userAgent.post(path, { ...at.fields, ...more(at) });
  };

const unchanged =
  (path: string): Ask =>
  async ({ signOn }) => {
    const { headers } = await signOn.userAgent().ask(path);
    return signOn.userAgent().ask(path, { headers: { 'if-none-match': headers.etag } });
  };

const authorizing = (service: CoveredService, wanted = {}) =>
  service.signOn.authorizeTarget(service.signOn.dashboard, wanted);
const queryOf = (target: string) => Object.fromEntries(new URLSearchParams(target.split('?')[1]));

/** An answer that leaves with a form. */
const POSTED = { response_mode: 'form_post' };
const SILENT = { ...POSTED, prompt: 'none' };

const wantingForm =
  (walk: (service: CoveredService, wanted: typeof POSTED) => Promise<AtPage>) => (service: CoveredService) =>
    walk(service, POSTED);

const firstContext = ({ page: { body } }: AtPage) => ({
  context: /name="context" value="([^"]+)"/.exec(body)?.[1] ?? '',
});

const byApplication =
  (path: string): Ask =>
  async (service) => {
    const token = await accessToken(service);
    return service.signOn.call(path, { token }, { authorization: basicOf(service.signOn.dashboard) });
  };

const redeemed: Ask = async ({ signOn }) =>
  signOn.redeem(await signOn.freshCode(await signOn.signedIn(), signOn.dashboard));

const userinfo =
  (method: string): Ask =>
  async (service) => {
    const headers = { authorization: `Bearer ${await accessToken(service)}` };
    return service.signOn.userAgent().ask('/auth/userinfo', { method, headers });
  };

/** A tab that asks for a password, when another one has had it. */
const signedInMeanwhile =
  (path: string, wanted = {}): Ask =>
  async (service) => {
    const start = await atSignIn(service, wanted);
    const tab = await start.userAgent.open(authorizing(service));
    await signIn(service, { ...start, page: tab, fields: hiddenFields(tab) });
    return start.userAgent.ask(`${path}?interaction=${start.fields.interaction}`);
  };

/** A tab that still asks, when another one has signed out. */
const signedOutMeanwhile: Ask = async (service) => {
  const { userAgent, fields } = await atSignOut(service);
  await userAgent.post('/auth/sign-out', fields);
  return userAgent.ask(`/auth/sign-out?interaction=${fields.interaction}`);
};

/** What is to be had where nothing is wrong, by operation and status. */
export const signOnSuccesses: Record<string, Ask> = {
  'authorize 200': (service) => service.signOn.userAgent().ask(authorizing(service, SILENT)),
  'authorizePost 200': (service) =>
    service.signOn.userAgent().post('/auth/authorize', queryOf(authorizing(service, SILENT))),
  'signIn 200': async (service) => signIn(service, await atSignIn(service, POSTED)),
  'cancelSignIn 200': pressed('/auth/cancel', wantingForm(atSignIn)),
  'cancelSignIn 303': pressed('/auth/cancel', (service) => atSignIn(service)),
  'chooseContext 200': pressed('/auth/choose-context', wantingForm(atContexts), firstContext),
  'consent 200': pressed('/auth/consent', wantingForm(atConsent), () => ({ decision: 'approve' })),
  'authorize 303': (service) => service.signOn.userAgent().ask(authorizing(service)),
  'authorizePost 303': (service) =>
    service.signOn.userAgent().post('/auth/authorize', queryOf(authorizing(service))),
  'token 200': redeemed,
  'userinfo 200': userinfo('GET'),
  'userinfoPost 200': userinfo('POST'),
  'discovery 200': open('/.well-known/openid-configuration'),
  'discovery 304': unchanged('/.well-known/openid-configuration'),
  'jwks 200': open('/.well-known/jwks.json'),
  'jwks 304': unchanged('/.well-known/jwks.json'),
  'revoke 200': byApplication('/auth/revoke'),
  'introspect 200': byApplication('/auth/introspect'),
  'logout 303': (service) =>
    service.signOn.userAgent().ask(`/auth/logout?client_id=${service.signOn.dashboard.clientId}`),
  'logoutPost 303': (service) =>
    service.signOn.userAgent().post('/auth/logout', { client_id: service.signOn.dashboard.clientId }),
  'showSignIn 200': page(atSignIn),
  'showSignIn 303': signedInMeanwhile('/auth/sign-in'),
  'signIn 303': async (service) => signIn(service, await atSignIn(service)),
  'showContexts 200': page(atContexts),
  'showContexts 303': elsewhere('/auth/choose-context', atSignIn),
  'chooseContext 303': pressed('/auth/choose-context', atContexts, firstContext),
  'showConsent 200': page(atConsent),
  'showConsent 303': elsewhere('/auth/consent', atSignIn),
  'consent 303': pressed('/auth/consent', atConsent, () => ({ decision: 'approve' })),
  'showSetPassword 200': page(atSetPassword),
  'setPassword 303': async (service) => setPassword(await atSetPassword(service)),
  'showPasswordSet 200': open('/auth/password-set'),
  'showPasswordSet 400': open(`/auth/password-set?entrances=${'x'.repeat(513)}`),
  'showVerifyEmail 200': page(atVerifyEmail),
  'verifyEmail 303': pressed('/auth/verify-email', atVerifyEmail),
  'showChangeEmail 200': page(atChangeEmail),
  'changeEmail 303': pressed('/auth/change-email', atChangeEmail, () => ({ password: 'wrong' })),
  'showEmailChanged 200': open('/auth/email-changed'),
  'showEmailVerified 200': open('/auth/email-verified'),
  'showSignOut 200': page(atSignOut),
  'showSignOut 303': signedOutMeanwhile,
  'signOut 303': pressed('/auth/sign-out', atSignOut),
  'showSignedOut 200': open('/auth/signed-out'),
};

/** Pages that are no longer due, of a sign-in whose answer leaves with a form. */
export const endedPages: [operationId: string, ask: Ask][] = [
  ['showSignIn', signedInMeanwhile('/auth/sign-in', POSTED)],
  ['showContexts', signedInMeanwhile('/auth/choose-context', POSTED)],
  ['showConsent', signedInMeanwhile('/auth/consent', POSTED)],
  ['showSignOut', signedInMeanwhile('/auth/sign-out', POSTED)],
];
