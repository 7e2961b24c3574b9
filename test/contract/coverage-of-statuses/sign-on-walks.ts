import { PasswordLinkPurpose } from '../../../generated/proto/integration/platform/v1/accounts.js';
import { basicOf, redirectUriOf } from '../../attacks/attacked-service.js';
import { hiddenFields, newAddress, type UserAgent } from '../../attacks/user-agent.js';
import { clientIds } from '../../flow/sign-on/demo-environment.js';
import { call } from '../../flow/sign-on/environment.js';
import { eventually } from '../../support/eventually.js';
import type { Exchange } from '../../support/http-exchange.js';
import type { CoveredService } from './covered-service.js';

const PASSWORD = 'seven quiet herons';
const AT_ONCE = 20;
/** Unused addresses. */
const guessing = newAddress();
const crowded = newAddress();

/** A browser before a page, with what the page would send back. */
export interface AtPage {
  userAgent: UserAgent;
  page: Exchange;
  fields: Record<string, string>;
}

const at = (userAgent: UserAgent, page: Exchange): AtPage => ({
  userAgent,
  page,
  fields: hiddenFields(page),
});

/** Changes of the request of the application. */
type Wanted = Readonly<Record<string, string>>;

/** At the sign-in page, without a session. */
export async function atSignIn({ signOn }: CoveredService, wanted: Wanted = {}): Promise<AtPage> {
  const userAgent = signOn.userAgent();
  return at(userAgent, await userAgent.open(signOn.authorizeTarget(signOn.dashboard, wanted)));
}

export function signIn(
  { signOn }: CoveredService,
  { userAgent, fields }: AtPage,
  { who = 'no access to Juniper', password }: { who?: string; password?: string } = {},
): Promise<Exchange> {
  const person = signOn.person(who);
  const typed = { email: person.email, password: password ?? person.password };
  return userAgent.post('/auth/sign-in', { ...fields, ...typed });
}

export async function atContexts(service: CoveredService, wanted: Wanted = {}): Promise<AtPage> {
  const start = await atSignIn(service, wanted);
  const answer = await signIn(service, start, { who: 'chooses one of four' });
  return at(start.userAgent, await start.userAgent.follow(answer));
}

export async function atConsent({ signOn }: CoveredService, wanted: Wanted = {}): Promise<AtPage> {
  const userAgent = await signOn.signedIn();
  const target = signOn.authorizeTarget(signOn.portal, { prompt: 'consent', ...wanted });
  return at(userAgent, await userAgent.open(target));
}

export async function atSignOut({ signOn }: CoveredService): Promise<AtPage> {
  const userAgent = await signOn.signedIn();
  return at(userAgent, await userAgent.open(`/auth/logout?client_id=${signOn.dashboard.clientId}`));
}

/** Pages that wait for an answer, by the name of their operations. */
export type WaitingPages = Record<'SignIn' | 'Contexts' | 'Consent' | 'SignOut', AtPage>;

/** One of each; only who has such a page makes the service read its store for it. */
export async function waitingPages(service: CoveredService): Promise<WaitingPages> {
  return {
    SignIn: await atSignIn(service),
    Contexts: await atContexts(service),
    Consent: await atConsent(service),
    SignOut: await atSignOut(service),
  };
}

async function atLink(service: CoveredService, url: string): Promise<AtPage> {
  const userAgent = service.signOn.userAgent();
  const { pathname, search } = new URL(url);
  return at(userAgent, await userAgent.ask(pathname + search));
}

const newPerson = ({ demo }: CoveredService) => demo.newPerson({ worker: [clientIds.tallowfern] });

export async function atSetPassword(service: CoveredService): Promise<AtPage> {
  const { accountId } = await service.demo.newPerson({ worker: [clientIds.tallowfern], invited: true });
  const wanted = { accountId, purpose: PasswordLinkPurpose.INVITATION };
  return atLink(service, (await service.demo.platform.createPasswordLink(wanted, call())).url);
}

export async function atVerifyEmail(service: CoveredService): Promise<AtPage> {
  const { accountId } = await newPerson(service);
  return atLink(
    service,
    (await service.demo.platform.createEmailVerificationLink({ accountId }, call())).url,
  );
}

export async function atChangeEmail(service: CoveredService): Promise<AtPage & { password: string }> {
  const { demo } = service;
  const { accountId, email, password } = await newPerson(service);
  await demo.platform.updateAccount({ accountId, email: `new.${email}` }, call());
  const wish = { $case: 'accountId' as const, value: accountId };
  const { url } = await demo.platform.createEmailChangeLink({ wish }, call());
  return { ...(await atLink(service, url)), password };
}

export const setPassword = ({ userAgent, fields }: AtPage) =>
  userAgent.post('/auth/set-password', { ...fields, password: PASSWORD });

export const wrongBasic = ({ signOn }: CoveredService) =>
  basicOf({ ...signOn.dashboard, clientSecret: `cs_demo_${'x'.repeat(48)}` });

/** An access token, with the scopes of `changes` if it has some. */
export async function accessToken(
  { signOn }: CoveredService,
  changes: Record<string, string> = {},
): Promise<string> {
  const { dashboard } = signOn;
  const fresh = await signOn.freshCode(await signOn.signedIn(), dashboard, {
    redirect_uri: redirectUriOf(dashboard),
    ...changes,
  });
  return JSON.parse((await signOn.redeem(fresh)).body).access_token;
}

/** What is answered after too many, some at once. On a busy machine, a window may end before that. */
function onceTooMany(ask: () => Promise<Exchange>): Promise<Exchange> {
  return eventually('a refusal of too many', async () => {
    const together = await Promise.all(Array.from({ length: AT_ONCE }, ask));
    return together.find(({ status }) => status === 429);
  });
}

export function afterWrongSecrets(service: CoveredService, path: string): Promise<Exchange> {
  const headers = { authorization: wrongBasic(service), 'x-forwarded-for': guessing };
  const fields = { grant_type: 'refresh_token', refresh_token: 'x', token: 'x' };
  return onceTooMany(() => service.signOn.call(path, fields, headers));
}

export function afterStrangers({ signOn }: CoveredService, ask: (userAgent: UserAgent) => Promise<Exchange>) {
  return onceTooMany(() => ask(signOn.userAgent(crowded)));
}

export async function afterWrongPasswords(service: CoveredService): Promise<Exchange> {
  const start = await atSignIn(service);
  const wrong = { who: 'worker of Tallowfern only', password: 'wrong' };
  return onceTooMany(() => signIn(service, start, wrong));
}
