import {
  type AuthorizationParameters as AuthorizationParametersMessage,
  type Browser as BrowserMessage,
  type BrowserStep as BrowserStepMessage,
  ErrorPageKind,
  type ErrorPage as ErrorPageMessage,
  InteractionPage,
  PasswordProblem,
  type SessionCookie,
  UserType,
} from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import {
  type AuthorizationParameters,
  PARAMETER_NAMES,
} from '../../../domain/sign-on/authorization-parameters.js';
import type {
  Browser,
  BrowserStep,
  CookieChange,
  ErrorPage,
  PageName,
  PasswordProblem as Problem,
} from '../../../domain/sign-on/browser.js';
import type { LoginContext } from '../../../domain/sign-on/login-contexts.js';
import type { CallContext } from '../../handlers.js';

const PAGES: Record<PageName, InteractionPage> = {
  sign_in: InteractionPage.SIGN_IN,
  choose_context: InteractionPage.CHOOSE_CONTEXT,
  consent: InteractionPage.CONSENT,
  sign_out: InteractionPage.SIGN_OUT,
  signed_out: InteractionPage.SIGNED_OUT,
  set_password: InteractionPage.SET_PASSWORD,
  password_set: InteractionPage.PASSWORD_SET,
  email_verified: InteractionPage.EMAIL_VERIFIED,
  change_email: InteractionPage.CHANGE_EMAIL,
  email_changed: InteractionPage.EMAIL_CHANGED,
};

const PROBLEMS: Record<Problem, PasswordProblem> = {
  too_short: PasswordProblem.TOO_SHORT,
  too_long: PasswordProblem.TOO_LONG,
  too_common: PasswordProblem.TOO_COMMON,
  too_personal: PasswordProblem.TOO_PERSONAL,
  wrong: PasswordProblem.WRONG,
};

const ERROR_KINDS: Record<ErrorPage['kind'], ErrorPageKind> = {
  request: ErrorPageKind.REQUEST,
  stale: ErrorPageKind.STALE,
  link: ErrorPageKind.LINK,
};

const USER_TYPES: Record<LoginContext['userType'], UserType> = {
  WORKER: UserType.WORKER,
  USER: UserType.USER,
};

const HASH_BYTES = 32;

/** As the store writes SHA-256 hashes; what is none belongs to nothing. */
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

/** Only what the domain knows by name. */
export function fromParameters(message: AuthorizationParametersMessage | undefined): AuthorizationParameters {
  const given = PARAMETER_NAMES.map((name) => [name, message?.[name]] as const);
  return { ...Object.fromEntries(given), repeatedNames: message?.repeatedNames ?? [] };
}

/** One that stands for nothing is a page nobody waits at, and leads on. */
export function fromPage(page: InteractionPage): PageName {
  const names = Object.keys(PAGES) as PageName[];
  return names.find((name) => PAGES[name] === page) ?? 'sign_in';
}

export function fromUserType(type: UserType): LoginContext['userType'] | undefined {
  const types = Object.keys(USER_TYPES) as LoginContext['userType'][];
  return types.find((ours) => USER_TYPES[ours] === type);
}

export function toUserType(type: LoginContext['userType']): UserType {
  return USER_TYPES[type];
}

export function toStep(step: BrowserStep): BrowserStepMessage {
  const { cookie, device } = step;
  return { result: resultOf(step), sessionCookie: cookie && toCookie(cookie), device };
}

export function toErrorPageMessage({ kind, ...page }: ErrorPage): ErrorPageMessage {
  return { kind: ERROR_KINDS[kind], ...page };
}

function resultOf(step: BrowserStep): BrowserStepMessage['result'] {
  switch (step.kind) {
    case 'redirect':
      return { $case: 'redirect', value: { location: step.location } };
    case 'page': {
      const { page, interaction, problem } = step;
      const value = { page: PAGES[page], interaction, problem: problem && PROBLEMS[problem] };
      return { $case: 'nextPage', value };
    }
    case 'error_page':
      return { $case: 'errorPage', value: toErrorPageMessage(step.errorPage) };
  }
}

/** It ends with the browser; the limits are the session's own. */
function toCookie(change: CookieChange): SessionCookie {
  return {
    change:
      change.kind === 'set' ? { $case: 'setValue', value: change.value } : { $case: 'clear', value: true },
  };
}
