import type { AccountId } from '../../../../generated/ids.js';
import { EACH_CONTROL } from '../../control-characters.js';
import type { PasswordFault } from '../../credentials/passwords.js';
import type { Actor, AuditedAction, AuditParty } from '../../operator/audit.js';
import type { CommonChanges } from '../../unit-of-work.js';
import { withAnswer } from '../authorization/redirect-target.js';
import type { AuthorizationRequest, SignOutRequest } from '../interaction/interactions.js';

export interface Browser {
  /** SHA-256 of the session cookie, in base64url; undefined without a cookie. */
  sessionHash: string | undefined;
  /** The device cookie as received. */
  device?: string | undefined;
  remoteAddress: string;
  userAgent: string;
  requestId: string;
}

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
  /** The fault: of the application (`request`), an expired page (`stale`), or a mailed link (`link`). */
  kind: 'request' | 'stale' | 'link';
  message: string;
  developerMessage?: string;
  continueUrl?: string;
}

export type CookieChange = { kind: 'set'; value: string } | { kind: 'clear' };

/** Why a password was refused: `wrong` where the account's was expected, otherwise the rule it breaks. */
type PasswordProblem = PasswordFault | 'wrong';

/** A form that brings the application its answer. */
interface FormPost {
  /** The proven redirect URI. */
  action: string;
  fields: Readonly<Record<string, string>>;
  applicationName: string;
  formActionSource: string;
}

/** Where a person can sign in next: an application on one of the person's instances. */
export interface Entrance {
  applicationId: string;
  instanceId: string;
}

export type BrowserStep = { cookie?: CookieChange; device?: string } & (
  | { kind: 'redirect'; location: string }
  | ({ kind: 'form_post' } & FormPost)
  | {
      kind: 'page';
      page: PageName;
      interaction: string;
      problem?: PasswordProblem;
      entrances?: readonly Entrance[];
    }
  | { kind: 'error_page'; errorPage: ErrorPage }
);

export function toPage(page: PageName, interaction = ''): BrowserStep {
  return { kind: 'page', page, interaction };
}

export function toErrorPage(errorPage: ErrorPage): BrowserStep {
  return { kind: 'error_page', errorPage };
}

/** The actor of an act in a browser. */
export function actorIn({ requestId, remoteAddress }: Browser, party: AuditParty): Actor {
  return { ...party, requestId, ...(remoteAddress !== '' && { remoteAddress }) };
}

const MAX_USER_AGENT_LENGTH = 256;

/** Records an act of a party in a browser; without another subject, it is about the party. */
export function auditIn(
  { audit }: Pick<CommonChanges, 'audit'>,
  browser: Browser,
  party: AuditParty,
  { attributes, ...action }: Omit<AuditedAction, 'subject'> & { subject?: AuditParty },
): Promise<void> {
  return audit(actorIn(browser, party), {
    subject: party,
    ...action,
    attributes: { ...attributes, ...userAgentOf(browser) },
  });
}

/** Records what a person does about the request of an application. */
export function auditRequest(
  changes: Pick<CommonChanges, 'audit'>,
  browser: Browser,
  { accountId, request }: { accountId: AccountId; request: AuthorizationRequest },
  { type, attributes }: Pick<AuditedAction, 'type' | 'attributes'>,
): Promise<void> {
  const person = { type: 'account', id: accountId };
  return auditIn(changes, browser, person, {
    type,
    subject: { type: 'application', id: request.applicationId },
    attributes: { instance_id: request.instanceId, ...attributes },
  });
}

/** Untrusted: browsers may send any text. */
function userAgentOf({ userAgent }: Browser): { user_agent?: string } {
  const cleaned = userAgent.replace(EACH_CONTROL, ' ').trim().slice(0, MAX_USER_AGENT_LENGTH);
  return cleaned === '' ? {} : { user_agent: cleaned };
}

/** Where a browser goes after a sign-out: a proven address of the application, or our own page. */
export function afterSignOut({ postLogoutRedirectUri, state }: SignOutRequest): BrowserStep {
  return postLogoutRedirectUri === null
    ? toPage('signed_out')
    : { kind: 'redirect', location: withAnswer(postLogoutRedirectUri, { state }) };
}
