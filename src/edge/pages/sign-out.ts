import { operations } from '../../../generated/openapi/sign-on-operations.js';
import type { SignOutPage } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { hidden } from './fields.js';
import { html } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';

/** Asks before it signs out, because any site could have sent the browser here. */
export function signOutPage(
  interaction: string,
  { csrfToken, accountEmail, applicationName }: SignOutPage,
): PageContent {
  const body = html`<div class="badge">${icons.away}</div>
<h1>Sign out?</h1>
<p class="lead">You are signed in as <strong>${accountEmail}</strong>.${applicationName && html` <strong>${applicationName}</strong> asks whether you want to sign out.`}</p>
<form method="post" action="${operations.signOut.path}">
${hidden('interaction', interaction)}
${hidden('csrf_token', csrfToken)}
<div class="actions"><button id="sign-out" type="submit">Sign out</button></div>
</form>
<p class="note">To stay signed in, close this page.</p>`;
  return { title: 'Sign out', body };
}
