import { operations } from '../../../generated/openapi/sign-on-operations.js';
import {
  type BrowserStep,
  type Entrance,
  type ErrorPage,
  ErrorPageKind,
  InteractionPage,
  type NextPage,
} from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { internalError } from '../../errors/service-error.js';
import { formPostPage } from '../pages/endings.js';
import type { CookieHeaders } from './browser.js';
import { BROWSER_HEADERS } from './page-writer.js';
import type { SignOnDependencies } from './sign-on-handler.js';

const PATHS: Partial<Record<InteractionPage, string>> = {
  [InteractionPage.SIGN_IN]: operations.showSignIn.path,
  [InteractionPage.CHOOSE_CONTEXT]: operations.showContexts.path,
  [InteractionPage.CONSENT]: operations.showConsent.path,
  [InteractionPage.SIGN_OUT]: operations.showSignOut.path,
  [InteractionPage.SIGNED_OUT]: operations.showSignedOut.path,
  [InteractionPage.SET_PASSWORD]: operations.showSetPassword.path,
  [InteractionPage.PASSWORD_SET]: operations.showPasswordSet.path,
  [InteractionPage.EMAIL_VERIFIED]: operations.showEmailVerified.path,
  [InteractionPage.CHANGE_EMAIL]: operations.showChangeEmail.path,
  [InteractionPage.EMAIL_CHANGED]: operations.showEmailChanged.path,
};

/** Their forms need the token of the link again. */
const PAGES_OF_MAILED_LINKS: readonly InteractionPage[] = [
  InteractionPage.SET_PASSWORD,
  InteractionPage.CHANGE_EMAIL,
];

/** Characters that a `Location` header may have. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;
const WEB_ADDRESS = /^https?:\/\/[\x21-\x7e]+$/;
/** A path of this server. */
const OWN_PATH = /^\/(?!\/)[\x21-\x7e]*$/;

const HINTS: Partial<Record<ErrorPageKind, string>> = {
  [ErrorPageKind.REQUEST]:
    'If it happens again, please tell the operator of the application: the fault is in the application.',
};

/** Where nothing failed: the person has used the page or the link before, or comes late. */
const HEADINGS: Partial<Record<ErrorPageKind, string>> = {
  [ErrorPageKind.STALE]: 'This page is no longer open',
  [ErrorPageKind.LINK]: 'This link does not work',
};

/** Without it, browsers send the form with `Origin: null`, which no application can allow. */
const ORIGIN_ONLY = { 'Referrer-Policy': 'strict-origin' } as const;

type Dependencies = Pick<SignOnDependencies, 'cookies' | 'pages'>;

/** The answer for the domain's next step. `linkToken` is the token of the mailed link whose form was sent. */
export function stepAnswer(
  step: BrowserStep | undefined,
  requestId: string,
  { cookies, pages }: Dependencies,
  linkToken?: string,
) {
  const cookie = cookies.headersOf(step);
  switch (step?.result?.$case) {
    case 'redirect':
      return seeOther(step.result.value.location, cookie);
    case 'nextPage':
      return seeOther(pathOf(step.result.value, linkToken), cookie);
    case 'errorPage': {
      const answer = errorAnswer(step.result.value, requestId, pages);
      return { ...answer, headers: { ...answer.headers, ...cookie } };
    }
    default:
      throw internalError(new Error('the domain returned no step for the browser'));
  }
}

/**
 * The same for an authorization, whose response may be a form (response_mode `form_post`). Applications ask
 * for silent ones (prompt `none`) in frames.
 */
export function authorizationAnswer(
  step: BrowserStep | undefined,
  requestId: string,
  dependencies: Dependencies,
  { isSilent = false } = {},
) {
  if (step?.result?.$case !== 'formPost') {
    return stepAnswer(step, requestId, dependencies);
  }
  const post = step.result.value;
  if (!WEB_ADDRESS.test(post.action)) {
    throw internalError(new Error('the domain returned a form target that is not a web address'));
  }
  const answer = dependencies.pages.page(formPostPage(post), post.formActionSource, {
    mayBeFramed: isSilent,
  });
  const headers = { ...answer.headers, ...dependencies.cookies.headersOf(step), ...ORIGIN_ONLY };
  return { ...answer, headers };
}

/** Redirects after a form, so that Reload and Back do not send it again. */
export function seeOther(location: string, cookie: CookieHeaders = {}) {
  if (!HEADER_SAFE.test(location)) {
    throw internalError(
      new Error('the domain returned a redirect target with characters that a header must not have'),
    );
  }
  return { status: 303 as const, headers: { ...BROWSER_HEADERS, ...cookie, Location: location } };
}

export function errorAnswer(page: ErrorPage, requestId: string, pages: Dependencies['pages']) {
  const { kind, message, developerMessage, continueUrl = '' } = page;
  return pages.error({
    heading: HEADINGS[kind],
    message,
    hint: HINTS[kind],
    developerMessage,
    continueUrl: OWN_PATH.test(continueUrl) ? continueUrl : undefined,
    requestId,
  });
}

function pathOf({ page, interaction, problem, entrances }: NextPage, linkToken: string | undefined): string {
  const path = PATHS[page];
  if (path === undefined) {
    throw internalError(new Error(`the domain returned the unknown page ${page}`));
  }
  const query = new URLSearchParams();
  if (interaction !== '') {
    query.set('interaction', interaction);
  }
  if (PAGES_OF_MAILED_LINKS.includes(page) && linkToken !== undefined) {
    query.set('token', linkToken);
  }
  if (problem !== undefined) {
    // Such as `too_short`.
    query.set('problem', problem.replace(/^PASSWORD_PROBLEM_/, '').toLowerCase());
  }
  if (entrances.length > 0) {
    query.set('entrances', entrancesText(entrances));
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

const PAIR = /^(app_[0-9A-Za-z]{22})\.(ins_[0-9A-Za-z]{22})$/;

/** As a page's address has them: `app_….ins_…`, separated by commas. */
function entrancesText(entrances: readonly Entrance[]): string {
  return entrances.map(({ applicationId, instanceId }) => `${applicationId}.${instanceId}`).join(',');
}

/** Text of another shape names none. */
export function entrancesIn(text = ''): Entrance[] {
  return text.split(',').flatMap((pair) => {
    const [, applicationId, instanceId] = PAIR.exec(pair) ?? [];
    return applicationId && instanceId ? [{ applicationId, instanceId }] : [];
  });
}
