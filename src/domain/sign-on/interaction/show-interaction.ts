import { NO_LINKS } from '../../operator/application-rules.js';
import type { ApplicationLinks } from '../../operator/rows/applications.js';
import type { Account } from '../../platform/rows/people.js';
import { formActionSource } from '../authorization/redirect-target.js';
import { countPerson } from '../sessions/begin-limits.js';
import { type Browser, type BrowserStep, type PageName, toPage } from '../sessions/browser.js';
import type { SignOn } from '../sign-on.js';
import { advance, leave, underWay } from './advance.js';
import type { AuthorizationRequest, SignOutRequest } from './interactions.js';
import { type ContextChoice, findContext, offeredContexts } from './login-contexts.js';
import {
  changeableContext,
  type NextStep,
  nextStep,
  type Situation,
  signInAgain,
  withdrawsByDenial,
} from './next-step.js';
import { situationNow } from './open-form.js';
import { boundOf, type OwnInteraction, openAuthorization, openInteraction } from './open-interaction.js';

/** A page, or where the browser goes instead. */
export type Shown = PageContent | { kind: 'step'; step: BrowserStep };

/** The requested page if the interaction waits there; otherwise the way to its page, or onward. */
export async function showInteraction(
  signOn: SignOn,
  browser: Browser,
  { page, interaction: token }: { page: PageName; interaction: string },
): Promise<Shown> {
  const rows = { ...signOn.unitOfWork.rows, now: signOn.clock() };
  const opened = await openInteraction(signOn, rows, browser, token);
  if (opened.kind === 'sign_out') {
    return page === 'sign_out'
      ? signOutPage(signOn, opened)
      : { kind: 'step', step: toPage('sign_out', token) };
  }
  if (opened.kind !== 'authorization') {
    return { kind: 'step', step: opened };
  }
  const situation = await situationNow(rows, opened);
  const next = nextStep(situation);
  if (next.kind !== 'page') {
    const { account } = opened.session;
    if (!account && next.kind !== 'issue') {
      return { kind: 'step', step: leave(signOn, situation, next) };
    }
    if (account) {
      await countPerson(signOn, account.id);
    }
    return { kind: 'step', step: await goOn(signOn, browser, token) };
  }
  if (next.page === page) {
    return authorizationPage(signOn, opened, situation, next);
  }
  if (page === 'choose_context' && next.page === 'consent' && changeableContext(situation)) {
    return authorizationPage(signOn, opened, situation, { kind: 'page', page });
  }
  // A different person may use this browser; the other pages have a link to change the account.
  return page === 'sign_in'
    ? authorizationPage(signOn, opened, situation, signInAgain(situation.progress))
    : { kind: 'step', step: toPage(next.page, token) };
}

/** It no longer waits here: another tab has completed the step. */
function goOn(signOn: SignOn, browser: Browser, token: string): Promise<BrowserStep> {
  return signOn.unitOfWork.run(async (changes) => {
    const opened = await openAuthorization(signOn, changes, browser, token);
    return opened.kind === 'authorization' ? advance(signOn, changes, browser, underWay(opened)) : opened;
  });
}

/** A fault of the input; without a field it concerns the whole form. */
interface InputRefusal {
  input: string;
  message: string;
}

/** The common part of the pages of an authorization. */
interface AuthorizationForm {
  csrfToken: string;
  applicationName: string;
  instanceName: string;
  formActionSource: string;
}

/** A page to show. */
type PageContent =
  | {
      kind: 'sign_in';
      form: AuthorizationForm;
      email: string;
      refusals: InputRefusal[];
      /** The person is signed in and has no access on the instance. */
      withoutAccess: boolean;
    }
  | {
      kind: 'choose_context';
      form: AuthorizationForm;
      accountEmail: string;
      contexts: (ContextChoice & { lastUsed: boolean })[];
      refusals: InputRefusal[];
    }
  | {
      kind: 'consent';
      form: AuthorizationForm;
      accountEmail: string;
      scopes: readonly string[];
      links: Pick<ApplicationLinks, 'logoUri' | 'policyUri' | 'tosUri'>;
      /** Which one the person goes on with; only if there are others. */
      context: ContextChoice | undefined;
      /** A denial takes an approval back. */
      allowedBefore: boolean;
    }
  | {
      kind: 'sign_out';
      csrfToken: string;
      accountEmail: string;
      applicationName: string | undefined;
      formActionSource: string;
    };

/** The page at which an authorization waits. */
async function authorizationPage(
  signOn: SignOn,
  own: OwnInteraction<AuthorizationRequest>,
  situation: Situation,
  { page, refusal }: NextStep & { kind: 'page' },
): Promise<PageContent> {
  const { request, application, identity, progress } = situation;
  const instance = await signOn.unitOfWork.rows.instances.find(request.instanceId);
  const form: AuthorizationForm = {
    csrfToken: signOn.formTokens.make(...boundOf(own)),
    applicationName: application?.name ?? '',
    instanceName: instance?.name ?? '',
    formActionSource: formActionSource(request.redirectUri),
  };
  const refusals = refusal ? [refusalOf(refusal, form, identity?.account)] : [];
  if (page === 'sign_in') {
    const email = progress.refusedEmail ?? request.loginHint ?? '';
    return { kind: 'sign_in', form, email, refusals, withoutAccess: refusal === 'no_access' };
  }
  const accountEmail = identity?.account.email ?? '';
  if (page === 'consent') {
    const { logoUri, policyUri, tosUri } = application ?? NO_LINKS;
    const links = { logoUri, policyUri, tosUri };
    const context = changeableContext(situation);
    const allowedBefore = situation.approvedScopes.length > 0 && withdrawsByDenial(situation);
    return { kind: 'consent', form, accountEmail, scopes: request.scopes, links, context, allowedBefore };
  }
  return { kind: 'choose_context', form, accountEmail, contexts: choicesOf(identity), refusals };
}

function choicesOf(identity: Situation['identity']): (ContextChoice & { lastUsed: boolean })[] {
  const contexts = identity ? offeredContexts(identity) : [];
  const lastUsed = findContext(contexts, identity?.lastContext);
  return contexts.map((choice) => ({ ...choice, lastUsed: choice === lastUsed }));
}

function refusalOf(
  refusal: NonNullable<Situation['progress']['refusal']>,
  { applicationName, instanceName }: AuthorizationForm,
  account: Account | undefined,
): InputRefusal {
  switch (refusal) {
    case 'credentials':
      return { input: 'password', message: 'The email address or the password is wrong.' };
    case 'no_address':
      return { input: 'email', message: 'This is not an email address. It has the form name@example.com.' };
    case 'no_access':
      return {
        input: '',
        message: `${account?.email ?? 'This account'} has no access to ${applicationName} on ${instanceName}. Sign in with another account, or ask the administrator of ${instanceName}.`,
      };
    case 'context':
      return { input: 'context', message: 'You no longer have this role.' };
    case 'other_sign_in':
      return {
        input: '',
        message: 'Someone has signed in with this browser since this page was opened. Please sign in again.',
      };
  }
}

/** Asks the person whether to sign out. */
async function signOutPage(signOn: SignOn, own: OwnInteraction<SignOutRequest>): Promise<PageContent> {
  const { applicationId, postLogoutRedirectUri } = own.interaction.request;
  const { account } = own.session;
  const { rows } = signOn.unitOfWork;
  const application = applicationId === null ? undefined : await rows.applications.find(applicationId);
  return {
    kind: 'sign_out',
    csrfToken: signOn.formTokens.make(...boundOf(own)),
    accountEmail: (account && (await rows.accounts.find(account.id))?.email) ?? '',
    applicationName: application?.name,
    formActionSource: postLogoutRedirectUri === null ? '' : formActionSource(postLogoutRedirectUri),
  };
}
