import { operations } from '../../../generated/openapi/sign-on-operations.js';
import type { SetPasswordPage } from '../../../generated/proto/integration/sign_on/v1/links.js';
import { hidden, SHOW_PASSWORD, textField } from './fields.js';
import { html } from './html.js';
import type { PageContent } from './layout.js';

const PROBLEMS: Record<string, string> = {
  too_short: 'This password is too short: use 15 characters or more, such as four random words.',
  too_long: 'This password is too long: use 256 characters or fewer.',
  too_common:
    'This password is one of the most common ones, or close to one. Choose something less usual, such as four random words.',
  too_personal:
    'This password consists of names related to you, such as yours or your company’s. Choose unrelated words.',
};

/** Asks for a new password. The address is shown, and sent for password managers. */
export function setPasswordPage(
  token: string,
  { email, invitation }: SetPasswordPage,
  problem: string | undefined,
): PageContent {
  const message = problem !== undefined && Object.hasOwn(PROBLEMS, problem) ? PROBLEMS[problem] : undefined;
  const refusals = message === undefined ? [] : [{ input: 'password', message }];
  const lead = invitation
    ? 'Welcome. Choose a password, and you can sign in.'
    : 'Choose a new password. You will be signed out everywhere else.';
  const body = html`<h1>Set a password</h1>
<p class="lead">${lead}</p>
<form method="post" action="${operations.setPassword.path}">
${hidden('token', token)}
${textField({ name: 'email', label: 'Email', type: 'email', autocomplete: 'username', value: email, readOnly: true })}
${textField({
  name: 'password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  hint: 'At least 15 characters. A few random words are easy to remember and hard to guess.',
  refusals,
  focused: true,
})}
<div class="actions"><button id="set-password" type="submit">Set password</button></div>
</form>`;
  return { title: 'Set a password', body, scripts: [SHOW_PASSWORD] };
}
