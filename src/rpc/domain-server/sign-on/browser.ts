import {
  type Browser as BrowserMessage,
  type BrowserStep as BrowserStepMessage,
  ErrorPageKind,
  InteractionPage,
  PasswordProblem,
  type SessionCookie,
  type ShowInteractionResponse,
  UserType,
} from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import type { SignOnServiceService } from '../../../../generated/proto/integration/sign_on/v1/sign_on.js';
import { authorize } from '../../../domain/sign-on/authorization/authorize.js';
import { cancel } from '../../../domain/sign-on/interaction/cancel.js';
import { chooseContext } from '../../../domain/sign-on/interaction/choose-context.js';
import { decideConsent } from '../../../domain/sign-on/interaction/consent.js';
import type { ContextChoice } from '../../../domain/sign-on/interaction/login-contexts.js';
import { type Shown, showInteraction } from '../../../domain/sign-on/interaction/show-interaction.js';
import { signIn } from '../../../domain/sign-on/interaction/sign-in.js';
import type {
  Browser,
  BrowserStep,
  CookieChange,
  ErrorPage,
} from '../../../domain/sign-on/sessions/browser.js';
import { confirmLogout, logout } from '../../../domain/sign-on/sessions/logout.js';
import type { SignOn } from '../../../domain/sign-on/sign-on.js';
import type { CallContext, Handlers, Sent } from '../../handlers.js';
import { fromEnum, words } from '../fields.js';

/** The methods for browsers. Each request is complete in itself, so any node can answer it. */
export function browserHandlers(signOn: SignOn): Handlers<SignOnServiceService> {
  const stepOf =
    <Form>(act: (signOn: SignOn, browser: Browser, form: Form) => Promise<BrowserStep>) =>
    async ({ browser, ...form }: Form & { browser: BrowserMessage | undefined }, context: CallContext) => ({
      step: toStep(await act(signOn, fromBrowser(browser, context), form as Form)),
    });
  return {
    authorize: async ({ browser, parameters = { repeatedNames: [] } }, context) => ({
      step: toStep(await authorize(signOn, fromBrowser(browser, context), parameters)),
    }),
    showInteraction: async ({ browser, page, interaction }, context) => {
      // An unspecified page counts as one that leads on.
      const asked = { page: fromPage(page) ?? ('sign_in' as const), interaction };
      return { result: toShown(await showInteraction(signOn, fromBrowser(browser, context), asked)) };
    },
    signIn: stepOf(signIn),
    cancelSignIn: stepOf(cancel),
    chooseContext: async ({ browser, userType, ...form }, context) => {
      const choice = { ...form, userType: fromUserType(userType) };
      return { step: toStep(await chooseContext(signOn, fromBrowser(browser, context), choice)) };
    },
    decideConsent: stepOf(decideConsent),
    logout: stepOf(logout),
    confirmLogout: stepOf(confirmLogout),
  };
}

const PAGES = words(InteractionPage);
const PROBLEMS = words(PasswordProblem);
const ERROR_KINDS = words(ErrorPageKind);

const fromPage = fromEnum(PAGES);

const HASH_BYTES = 32;

/** A SHA-256 hash as the store writes it; undefined for any other length. */
export function fromHash(hash: Uint8Array | undefined): string | undefined {
  return hash?.length === HASH_BYTES ? Buffer.from(hash).toString('base64url') : undefined;
}

export function fromBrowser(
  browser: BrowserMessage | undefined,
  { requestId }: Pick<CallContext, 'requestId'>,
): Browser {
  return {
    sessionHash: fromHash(browser?.sessionHash),
    device: browser?.device,
    remoteAddress: browser?.remoteAddress ?? '',
    userAgent: browser?.userAgent ?? '',
    requestId,
  };
}

const fromUserType = fromEnum(UserType);

export function toStep(step: BrowserStep) {
  const { cookie, device } = step;
  return { result: resultOf(step), sessionCookie: cookie && toCookie(cookie), device };
}

export function toErrorResult({ kind, ...page }: ErrorPage) {
  return { $case: 'errorPage' as const, value: { kind: ERROR_KINDS[kind], ...page } };
}

function resultOf(step: BrowserStep): Sent<BrowserStepMessage>['result'] {
  switch (step.kind) {
    case 'redirect':
      return { $case: 'redirect', value: { location: step.location } };
    case 'form_post': {
      const { kind, cookie, device, fields, ...post } = step;
      const named = Object.entries(fields).map(([name, value]) => ({ name, value }));
      return { $case: 'formPost', value: { ...post, fields: named } };
    }
    case 'page': {
      const { page, interaction, problem, entrances = [] } = step;
      const value = {
        page: PAGES[page],
        interaction,
        problem: problem && PROBLEMS[problem],
        entrances: [...entrances],
      };
      return { $case: 'nextPage', value };
    }
    case 'error_page':
      return toErrorResult(step.errorPage);
  }
}

/** A session cookie; the session itself has the limits. */
function toCookie(change: CookieChange): Sent<SessionCookie> {
  return {
    change:
      change.kind === 'set' ? { $case: 'setValue', value: change.value } : { $case: 'clear', value: true },
  };
}

function toShown(shown: Shown): Sent<ShowInteractionResponse['result']> {
  switch (shown.kind) {
    case 'step':
      return { $case: 'step', value: toStep(shown.step) };
    case 'sign_in': {
      const { kind, form: interaction, ...page } = shown;
      return { $case: 'signInPage', value: { ...page, interaction } };
    }
    case 'choose_context': {
      const { kind, form: interaction, contexts, ...page } = shown;
      return { $case: 'contextPage', value: { ...page, interaction, contexts: contexts.map(toContext) } };
    }
    case 'consent': {
      const { kind, form: interaction, links, context, ...page } = shown;
      const chosen = context && toContext({ ...context, lastUsed: false });
      return { $case: 'consentPage', value: { ...page, ...links, interaction, context: chosen } };
    }
    case 'sign_out': {
      const { kind, ...value } = shown;
      return { $case: 'signOutPage', value };
    }
  }
}

function toContext<Choice extends ContextChoice & { lastUsed: boolean }>(context: Choice) {
  return { ...context, userType: UserType[context.userType] };
}
