import { operations } from '../../../generated/openapi/sign-on-operations.js';
import type { ChangeEmailPage } from '../../../generated/proto/integration/sign_on/v1/links.js';
import { hidden, SHOW_PASSWORD, textField } from './fields.js';
import { html } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';

const WRONG = 'This is not the password of the account.';

/** Asks for the password of the account: a reader of the new mailbox may be someone else. */
export function changeEmailPage(
  token: string,
  { email, clientName }: ChangeEmailPage,
  problem: string | undefined,
): PageContent {
  const refusals = problem === 'wrong' ? [{ input: 'password', message: WRONG }] : [];
  const asker = clientName === undefined ? 'Support' : html`<strong>${clientName}</strong>`;
  const body = html`<div class="badge">${icons.mail}</div>
<h1>Change your email</h1>
<p class="lead">${asker} asks that you sign in as <strong>${email}</strong> from now on, wherever your account is used.</p>
<form method="post" action="${operations.changeEmail.path}">
${hidden('token', token)}
${textField({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
  hint: 'The one with which you sign in today. You will be signed out everywhere.',
  refusals,
  focused: true,
})}
<div class="actions"><button id="change-email" type="submit">Change email</button></div>
</form>
<p class="note">If you did not expect this, close the page: nothing happens.</p>`;
  return { title: 'Change your email', body, scripts: [SHOW_PASSWORD] };
}
