import { hiddenFields } from '../../attacks/user-agent.js';
import { contractDocument } from '../../support/contract/contract-document.js';
import type { Exchange } from '../../support/http-exchange.js';
import type { CoveredService } from './covered-service.js';
import { atChangeEmail, atConsent, atSetPassword, atSignIn, signIn } from './sign-on-walks.js';

type Examples = Record<string, { value: string }>;
type Ask = (service: CoveredService) => Promise<Exchange>;

const { headers } = contractDocument('sign-on').components as {
  headers: Record<string, { examples?: Examples }>;
};

/** The documented redirects, by what they are called. */
export const redirectExamples = Object.entries(headers)
  .filter(([name]) => name.endsWith('Location'))
  .flatMap(([header, { examples = {} }]) =>
    Object.entries(examples).map(([example, { value }]) => ({
      name: `${header} ${example}`,
      location: value,
    })),
  );

/** Of one sign-in, link or person; the rest of an address is the same for all. */
const OWN_VALUES = ['code', 'state', 'iss', 'interaction', 'token', 'entrances'];

const SERVER = 'http://server';

/** Where a redirect leads, without what is of one sign-in or application. */
export function destinationOf(location: string): string {
  const { origin, pathname, searchParams } = new URL(location, SERVER);
  const fields = [...searchParams].map(([name, value]) =>
    OWN_VALUES.includes(name) ? name : `${name}=${value}`,
  );
  return `${origin === SERVER ? pathname : 'application'} ${fields.join(' & ')}`;
}

const AFTERWARDS = 'https://app.example.com/signed-out';

async function logoutTarget({ signOn }: CoveredService): Promise<string> {
  const { clientId } = await signOn.register({ name: 'Leaver', postLogoutRedirectUris: [AFTERWARDS] });
  const fields = { client_id: clientId, post_logout_redirect_uri: AFTERWARDS, state: 'x' };
  return `/auth/logout?${new URLSearchParams(fields)}`;
}

/** Redirects that no case of a status answers. */
export const furtherRedirects: [what: string, ask: Ask][] = [
  [
    'prompt=none without a session',
    ({ signOn }) => signOn.userAgent().ask(signOn.authorizeTarget(signOn.dashboard, { prompt: 'none' })),
  ],
  [
    'a sign-in to a page',
    async (service) => {
      const { signOn } = service;
      const userAgent = signOn.userAgent();
      const page = await userAgent.open(signOn.authorizeTarget(signOn.portal, { prompt: 'consent' }));
      return signIn(service, { userAgent, page, fields: hiddenFields(page) });
    },
  ],
  [
    'a refused consent',
    async (service) => {
      const { userAgent, fields } = await atConsent(service);
      return userAgent.post('/auth/consent', { ...fields, decision: 'deny' });
    },
  ],
  [
    'a person without access',
    async (service) => {
      const { userAgent, ...start } = await atSignIn(service);
      const answer = await signIn(service, { userAgent, ...start }, { who: 'no access to Harborlight' });
      return userAgent.post('/auth/cancel', hiddenFields(await userAgent.follow(answer)));
    },
  ],
  [
    'a short password',
    async (service) => {
      const { userAgent, fields } = await atSetPassword(service);
      return userAgent.post('/auth/set-password', { ...fields, password: 'x' });
    },
  ],
  [
    'a changed address',
    async (service) => {
      const { userAgent, fields, password } = await atChangeEmail(service);
      return userAgent.post('/auth/change-email', { ...fields, password });
    },
  ],
  ['a logout of nobody', async (service) => service.signOn.userAgent().ask(await logoutTarget(service))],
  [
    'a logout that asks first',
    async (service) => (await service.signOn.signedIn()).ask(await logoutTarget(service)),
  ],
  [
    'a confirmed logout',
    async (service) => {
      const userAgent = await service.signOn.signedIn();
      const page = await userAgent.open(await logoutTarget(service));
      return userAgent.post('/auth/sign-out', hiddenFields(page));
    },
  ],
];
