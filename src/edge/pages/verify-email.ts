import { operations } from '../../../generated/openapi/sign-on-operations.js';
import type { VerifyEmailPage } from '../../../generated/proto/integration/sign_on/v1/links.js';
import { hidden } from './fields.js';
import { html } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';

/** Asks for a click, because mail scanners open links too. */
export function verifyEmailPage(token: string, { email }: VerifyEmailPage): PageContent {
  const body = html`<div class="badge">${icons.mail}</div>
<h1>Verify your email</h1>
<p class="lead">Confirm that <strong>${email}</strong> is your address.</p>
<form method="post" action="${operations.verifyEmail.path}">
${hidden('token', token)}
<div class="actions"><button id="verify" type="submit">Verify</button></div>
</form>
<p class="note">If you did not expect this, close the page: nothing happens.</p>`;
  return { title: 'Verify your email', body };
}
