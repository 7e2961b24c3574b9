import { NO_LINKS } from '../../operator/application-rules.js';
import type { ApplicationLinks } from '../../operator/rows/applications.js';
import type { Account } from '../../platform/rows/people.js';
import { formActionSource } from '../authorization/redirect-target.js';
import type { SignOn } from '../sign-on.js';
import type { AuthorizationRequest, SignOutRequest } from './interactions.js';
import { type ContextChoice, findContext, offeredContexts } from './login-contexts.js';
import { changeableContext, type NextStep, type Situation } from './next-step.js';
import { formTokenOf, type OwnInteraction } from './open-interaction.js';

/** A fault of the input; without a field it concerns the whole form. */
export interface InputRefusal {
  input: string;
  message: string;
}

/** The common part of the pages of an authorization. */
export interface AuthorizationForm {
  csrfToken: string;
  applicationName: string;
  instanceName: string;
  formActionSource: string;
}

/** A page to show. */
export type PageContent =
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
      links: ApplicationLinks;
      /** Which one the person goes on with; only if there are others. */
      context: ContextChoice | undefined;
    }
  | {
      kind: 'sign_out';
      csrfToken: string;
      accountEmail: string;
      applicationName: string | undefined;
      formActionSource: string;
    };

/** The page at which an authorization waits. */
export async function authorizationPage(
  signOn: SignOn,
  own: OwnInteraction<AuthorizationRequest>,
  situation: Situation,
  { page, refusal }: NextStep & { kind: 'page' },
): Promise<PageContent> {
  const { request, application, identity, progress } = situation;
  const instance = await signOn.unitOfWork.rows.instances.find(request.instanceId);
  const form: AuthorizationForm = {
    csrfToken: formTokenOf(signOn, own),
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
    const links = application?.links ?? NO_LINKS;
    const context = changeableContext(situation);
    return { kind: 'consent', form, accountEmail, scopes: request.scopes, links, context };
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
    case 'no_access':
      return {
        input: '',
        message: `${account?.email ?? 'This account'} has no access to ${applicationName} on ${instanceName}. Sign in with another account, or ask the administrator of ${instanceName}.`,
      };
    case 'context':
      return { input: 'context', message: 'Choose one of these.' };
  }
}

/** Asks the person whether to sign out. */
export async function signOutPage(signOn: SignOn, own: OwnInteraction<SignOutRequest>): Promise<PageContent> {
  const { applicationId, postLogoutRedirectUri } = own.interaction.request;
  const { account } = own.session;
  const { rows } = signOn.unitOfWork;
  const application = applicationId === null ? undefined : await rows.applications.find(applicationId);
  return {
    kind: 'sign_out',
    csrfToken: formTokenOf(signOn, own),
    accountEmail: (account && (await rows.accounts.find(account.id))?.email) ?? '',
    applicationName: application?.name,
    formActionSource: postLogoutRedirectUri === null ? '' : formActionSource(postLogoutRedirectUri),
  };
}
