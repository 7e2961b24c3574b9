import type { PasswordFault } from '../credentials/passwords.js';
import type { Actor, AuditParty } from '../operator/audit.js';

/** The browser behind a request. */
export interface Browser {
  /** SHA-256 of the session cookie's value, in base64url; undefined when there is no cookie. */
  sessionHash: string | undefined;
  /** The device cookie as it came. */
  device?: string | undefined;
  remoteAddress: string;
  userAgent: string;
  requestId: string;
}

/** The pages of this server. */
export type PageName =
  | 'sign_in'
  | 'choose_context'
  | 'consent'
  | 'sign_out'
  | 'signed_out'
  | 'set_password'
  | 'password_set'
  | 'email_verified'
  | 'change_email'
  | 'email_changed';

export interface ErrorPage {
  /** `request`: it is the application's fault. `stale`: the page is over. `link`: the mailed link is. */
  kind: 'request' | 'stale' | 'link';
  /** For the person, as a sentence. */
  message: string;
  developerMessage?: string;
  /** Where they can go on. */
  continueUrl?: string;
}

export type CookieChange = { kind: 'set'; value: string } | { kind: 'clear' };

/** Why a password was refused: `wrong` if it should be that of the account, otherwise why nobody may choose it. */
export type PasswordProblem = PasswordFault | 'wrong';

/** Where the browser goes next. */
export type BrowserStep = { cookie?: CookieChange; device?: string } & (
  | { kind: 'redirect'; location: string }
  | { kind: 'page'; page: PageName; interaction: string; problem?: PasswordProblem }
  | { kind: 'error_page'; errorPage: ErrorPage }
);

export function toPage(page: PageName, interaction = ''): BrowserStep {
  return { kind: 'page', page, interaction };
}

export function toErrorPage(errorPage: ErrorPage): BrowserStep {
  return { kind: 'error_page', errorPage };
}

/** Who does something in a browser, and from where. */
export function actorIn({ requestId, remoteAddress }: Browser, party: AuditParty): Actor {
  return { ...party, requestId, ...(remoteAddress !== '' && { remoteAddress }) };
}

const MAX_USER_AGENT_LENGTH = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they belong in no log.
const CONTROL = /[\u0000-\u001f\u007f]/g;

/** Anybody can send anything as their browser's name. */
export function userAgentOf({ userAgent }: Browser): { user_agent?: string } {
  const cleaned = userAgent.replace(CONTROL, ' ').trim().slice(0, MAX_USER_AGENT_LENGTH);
  return cleaned === '' ? {} : { user_agent: cleaned };
}
