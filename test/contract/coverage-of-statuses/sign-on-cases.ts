import { basicOf } from '../../attacks/attacked-service.js';
import { contractDocument } from '../../support/contract/contract-document.js';
import { type Exchange, exchange, type Question } from '../../support/http-exchange.js';
import { type DocumentedRequest, documentedRequests } from '../documented-requests.js';
import type { CoveredService } from './covered-service.js';
import { type FaultySignOn, plantedStatuses } from './planted-faults.js';
import { signOnSuccesses } from './sign-on-successes.js';
import {
  accessToken,
  afterStrangers,
  afterWrongPasswords,
  afterWrongSecrets,
  type WaitingPages,
  wrongBasic,
} from './sign-on-walks.js';
import { documentedPairs, nameOf, type StatusCase, type StatusPair } from './status-case.js';

export type Ask = (service: CoveredService) => Promise<Exchange>;
export type SignOnAsk = (service: CoveredService, faulty: FaultySignOn) => Promise<Exchange>;

const FORM_LIMIT_BYTES = 65_536;

/** No call of the domain is made for these, so it cannot fail. */
const ENDINGS = ['showPasswordSet', 'showEmailVerified', 'showEmailChanged', 'showSignedOut'];
/** The domain has these in its memory. */
const WITHOUT_STORE = [...ENDINGS, 'discovery', 'jwks'];

const documented = new Map(
  documentedRequests(contractDocument('sign-on')).map((request) => [request.operationId, request]),
);

function requestOf(operationId: string): DocumentedRequest {
  return documented.get(operationId) as DocumentedRequest;
}

/** The request as it is documented, changed. */
const asking =
  (operationId: string, changes: (question: Question, service: CoveredService) => Question): Ask =>
  (service) => {
    const { target, question } = requestOf(operationId);
    return exchange(service.signOn.port, target, changes(question, service));
  };

const call =
  (
    path: string,
    fields: Record<string, string>,
    headers: (service: CoveredService) => Question['headers'],
  ): Ask =>
  (service) =>
    service.signOn.call(path, fields, headers(service));

const bearer = (path: string, method: string, token: string | undefined): Ask => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return ({ signOn }) => exchange(signOn.port, path, { method, headers });
};

const profileOnly =
  (method: string): Ask =>
  async (service) =>
    bearer('/auth/userinfo', method, await accessToken(service, { scope: 'profile' }))(service);

const wrongSecret = (path: string, fields = {}): Ask =>
  call(path, fields, (service) => ({ authorization: wrongBasic(service) }));

const rightSecret = (path: string, fields = {}): Ask =>
  call(path, fields, ({ signOn }) => ({ authorization: basicOf(signOn.dashboard) }));

const LOGOUT_OF_UNKNOWN_APPLICATION: Ask = ({ signOn }) =>
  signOn.userAgent().ask('/auth/logout?client_id=app_AAAAAAAAAAAAAAAAAAAAAA');

const target = ({ signOn }: CoveredService) => signOn.authorizeTarget(signOn.dashboard);
const fieldsOf = (address: string) => Object.fromEntries(new URLSearchParams(address.split('?')[1]));

/** Cases with their own steps, by operation and status. */
const OWN: Record<string, Ask> = {
  ...signOnSuccesses,
  'authorize 429': (service) => afterStrangers(service, (userAgent) => userAgent.ask(target(service))),
  'authorizePost 429': (service) =>
    afterStrangers(service, (userAgent) => userAgent.post('/auth/authorize', fieldsOf(target(service)))),
  'token 401': wrongSecret('/auth/token', { grant_type: 'refresh_token', refresh_token: 'x' }),
  'revoke 401': wrongSecret('/auth/revoke', { token: 'x' }),
  'introspect 401': wrongSecret('/auth/introspect', { token: 'x' }),
  'token 400': rightSecret('/auth/token'),
  'revoke 400': rightSecret('/auth/revoke'),
  'introspect 400': rightSecret('/auth/introspect'),
  // Half of a body; the rest never comes.
  'token 408': call('/auth/token', { grant_type: 'refresh_token' }, () => ({ 'content-length': '1000' })),
  'token 429': (service) => afterWrongSecrets(service, '/auth/token'),
  'revoke 429': (service) => afterWrongSecrets(service, '/auth/revoke'),
  'introspect 429': (service) => afterWrongSecrets(service, '/auth/introspect'),
  'userinfo 400': bearer('/auth/userinfo?access_token=x', 'GET', undefined),
  'userinfoPost 400': bearer('/auth/userinfo?access_token=x', 'POST', undefined),
  'userinfo 401': bearer('/auth/userinfo', 'GET', 'x'),
  'userinfoPost 401': bearer('/auth/userinfo', 'POST', undefined),
  'userinfo 403': profileOnly('GET'),
  'userinfoPost 403': profileOnly('POST'),
  'logout 400': LOGOUT_OF_UNKNOWN_APPLICATION,
  'signIn 429': afterWrongPasswords,
};

const withForm = (question: Question, type: string, body: string): Question => ({
  method: question.method as string,
  headers: { 'content-type': type },
  body,
});

/** Statuses that every operation gives for the same cause. */
const SHARED: Record<number, (operationId: string) => Ask> = {
  // Well formed but unknown: ids and tokens of the document do not exist.
  400: (operationId) => asking(operationId, (question) => question),
  405: (operationId) => asking(operationId, () => ({ method: 'DELETE' })),
  413: (operationId) =>
    asking(operationId, (question) =>
      withForm(question, 'application/x-www-form-urlencoded', `a=${'x'.repeat(FORM_LIMIT_BYTES)}`),
    ),
  415: (operationId) => asking(operationId, (question) => withForm(question, 'text/plain', 'a=b')),
};

/** The page that each operation shows or takes the form of. */
const WAITING: Record<string, keyof WaitingPages> = {
  showSignIn: 'SignIn',
  signIn: 'SignIn',
  cancelSignIn: 'SignIn',
  showContexts: 'Contexts',
  chooseContext: 'Contexts',
  showConsent: 'Consent',
  consent: 'Consent',
  showSignOut: 'SignOut',
  signOut: 'SignOut',
};

/** As documented, but for a page sealed by this service: others are refused before the store is read. */
const ofWaitingPage =
  (operationId: string, waiting: keyof WaitingPages): Ask =>
  ({ keptPages }) => {
    const { userAgent, fields } = (keptPages as WaitingPages)[waiting];
    const { target, question } = requestOf(operationId);
    const [path = ''] = target.split('?');
    const form = Object.fromEntries(new URLSearchParams(String(question.body ?? '')));
    return question.method === 'POST'
      ? userAgent.post(path, { ...form, ...fields })
      : userAgent.ask(`${path}?interaction=${fields.interaction}`);
  };

/** A request that the edge accepts, so that the domain decides the answer. */
const inOrder = (operationId: string): Ask => {
  const waiting = WAITING[operationId];
  if (waiting) {
    return ofWaitingPage(operationId, waiting);
  }
  if (operationId === 'logout') {
    return LOGOUT_OF_UNKNOWN_APPLICATION;
  }
  if (['token', 'revoke', 'introspect'].includes(operationId)) {
    return rightSecret(`/auth/${operationId}`, {
      grant_type: 'refresh_token',
      refresh_token: 'x',
      token: 'x',
    });
  }
  return operationId.startsWith('userinfo')
    ? (service) =>
        bearer('/auth/userinfo', requestOf(operationId).question.method ?? '', service.keptToken)(service)
    : asking(operationId, (question) => question);
};

function caseOf(pair: StatusPair): StatusCase<SignOnAsk> | undefined {
  const { operationId, status } = pair;
  const own = OWN[`${operationId} ${status}`];
  if (own) {
    return { ...pair, stage: 'whole', ask: own };
  }
  const shared = SHARED[status];
  if (shared) {
    return { ...pair, stage: 'whole', ask: shared(operationId) };
  }
  if (status === 503 && !ENDINGS.includes(operationId)) {
    return { ...pair, stage: 'domain stopped', ask: inOrder(operationId) };
  }
  if (status === 500 && !WITHOUT_STORE.includes(operationId)) {
    return { ...pair, stage: 'store spoiled', ask: inOrder(operationId) };
  }
  return plantedStatuses.includes(status)
    ? { ...pair, stage: 'fault planted', ask: planted(pair) }
    : undefined;
}

const planted =
  ({ operationId, status }: StatusPair): SignOnAsk =>
  (_, faulty) => {
    const request = requestOf(operationId);
    faulty.plant(status);
    return exchange(faulty.port, request.target, request.question);
  };

export const signOnCases: StatusCase<SignOnAsk>[] = documentedPairs('sign-on').flatMap(
  (pair) => caseOf(pair) ?? [],
);

/** Entries of `OWN` that match no documented status: they would never run. */
export const strayWays = Object.keys(OWN).filter(
  (name) => !documentedPairs('sign-on').some((pair) => nameOf(pair) === `sign-on ${name}`),
);
