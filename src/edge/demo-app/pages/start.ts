import { type Html, html } from '../../pages/html.js';
import { icons } from '../../pages/icons.js';
import { APP_NAME, framed } from './frame.js';

/** The address that begins a sign-in. */
export const SIGN_IN_PATH = '/sign-in';
export const NO_CREDENTIALS =
  'The demo has no credentials for this application. Restart the demo with “make run”.';

export interface Person {
  email: string;
  password: string;
  note: string;
}

export interface Instance {
  id: string;
  name: string;
  /** The path of its redirect URI. */
  callbackPath: string;
}

export function signInPath(parameters: Record<string, string>): string {
  return `${SIGN_IN_PATH}?${new URLSearchParams(parameters)}`;
}

export function startPage(instances: readonly Instance[], people: readonly Person[]): string {
  const [usual, ...others] = instances.map(({ name }) => name);
  const body = html`<h1>See a sign-in as an application does</h1>
<p class="lead">${APP_NAME} is registered on this demo as your application would be. After the sign-in it shows the tokens, the claims and the calls that use them.</p>
<div class="next">${instances.map(
    ({ name, callbackPath }, index) =>
      html`<a class="button${index > 0 && ' quiet'}" href="${signInPath({ callback: callbackPath })}">Sign in to ${name}</a>`,
  )}</div>
<h2>People of the demo</h2>
${people.length === 0 ? html`<p class="note">${NO_CREDENTIALS}</p>` : listOf(people, usual, others)}`;
  return framed('Sign in', body);
}

function listOf(people: readonly Person[], usual: string | undefined, others: readonly string[]): Html {
  const passwords = [...new Set(people.map(({ password }) => password))];
  return html`<p class="note">They all have the password ${passwords.map((password) => html`<code>${password}</code>`)} until it is changed. Choose one to sign in to ${usual} with that address${others.length > 0 && `; for ${others.join(' or ')}, use the button above`}:</p>
<ul class="people">${people.map(
    ({ email, note }) =>
      html`<li><a href="${signInPath({ email })}"><b>${email}</b><span>${note}</span></a></li>`,
  )}</ul>`;
}

/** `callbackPath`: that of the instance for the next sign-in; an unknown one leads to the first instance. */
export function signedOutPage(callbackPath: string, docsUrl: string): string {
  const body = html`<div class="badge good">${icons.done}</div>
<h1>You are signed out</h1>
<p class="lead">The sign-on server has ended the session and sent you back to ${APP_NAME}.</p>
<p class="note">Unless it is registered with <code>sign_out_ends_tokens</code>, the tokens that ${APP_NAME} has shown work until they expire: it keeps none, so it cannot revoke them. Your application revokes its refresh token when a person signs out, as in <a href="${docsUrl}/sign-in">the guide</a>.</p>
<div class="next"><a class="button" href="${signInPath({ callback: callbackPath })}">Sign in again</a></div>`;
  return framed('Signed out', body);
}

/** Where the page that asks to allow access leads, because the registration has these addresses. */
export const privacyPage = documentPage(
  'Privacy policy',
  html`${APP_NAME} keeps nothing of what it learns in a sign-in: it shows it once. Your application would say here what it keeps and why, and be registered with this address as <code>policy_uri</code>.`,
);

export const termsPage = documentPage(
  'Terms of service',
  html`${APP_NAME} is here to be tried, on this machine, with invented people. Your application would have its terms of service here, and be registered with this address as <code>tos_uri</code>.`,
);

function documentPage(title: string, text: Html): string {
  const body = html`<h1>${title}</h1>
<p class="lead">${text}</p>
<div class="next"><a class="button" href="/">To the start</a></div>`;
  return framed(title, body);
}

export const missingPage = framed(
  'Page not found',
  html`<div class="badge bad">${icons.warning}</div>
<h1>Page not found</h1>
<p class="lead">There is no page at this address.</p>
<div class="next"><a class="button" href="/">Back to the start</a></div>`,
);

/** Why there was no sign-in, and how to begin another, to the same instance. */
export function failurePage(message: string, callbackPath: string, code?: string): string {
  const body = html`<div class="badge bad">${icons.warning}</div>
<h1>You are not signed in</h1>
<p class="lead">${message}</p>
<div class="next"><a class="button" id="again" href="${signInPath({ callback: callbackPath })}">Sign in</a></div>
${code !== undefined && html`<dl class="facts"><dt>For developers</dt><dd>${code}</dd></dl>`}`;
  return framed('Not signed in', body);
}
