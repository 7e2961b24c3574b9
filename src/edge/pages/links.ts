import { operations } from '../../../generated/openapi/sign-on-operations.js';
import type {
  ChangeEmailPage,
  SetPasswordPage,
  VerifyEmailPage,
} from '../../../generated/proto/integration/sign_on/v1/links.js';
import { addressOf, hidden, SEND_ONCE, SHOW_PASSWORD, textField, titleOf } from './fields.js';
import { html } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';

/** Asks for a click, because mail scanners open links too. */
export function verifyEmailPage(token: string, { email }: VerifyEmailPage): PageContent {
  const body = html`<div class="badge">${icons.mail}</div>
<h1>Verify your email</h1>
<p class="lead">Confirm that <strong>${email}</strong> is your address.</p>
<form method="post" action="${addressOf(operations.verifyEmail.path, { token })}">
${hidden('token', token)}
<div class="actions"><button id="verify" type="submit">Verify</button></div>
</form>
<p class="note">If you did not expect this, close the page: nothing happens.</p>`;
  return { title: 'Verify your email', body, scripts: [SEND_ONCE] };
}

const PROBLEMS: Record<string, string> = {
  too_short: 'This password is too short: use 15 characters or more, such as four random words.',
  too_long: 'This password is too long: use 256 characters or fewer.',
  too_common:
    'This password is one of the most common ones, or close to one. Choose something less usual, such as four random words.',
  too_personal:
    'This password consists of names related to you, such as yours or your company’s. Choose unrelated words.',
};

/** Asks for a new password. The input with the address is for password managers; a long one does not fit. */
export function setPasswordPage(
  token: string,
  { email, invitation }: SetPasswordPage,
  problem: string | undefined,
): PageContent {
  const message = problem !== undefined && Object.hasOwn(PROBLEMS, problem) ? PROBLEMS[problem] : undefined;
  const refusals = message === undefined ? [] : [{ input: 'password', message }];
  const lead = invitation
    ? html`Welcome. Choose a password for <strong>${email}</strong>, and you can sign in.`
    : html`Choose a new password for <strong>${email}</strong>. Your applications will ask you to sign in again.`;
  const body = html`<h1>Set a password</h1>
<p class="lead">${lead}</p>
<form method="post" action="${addressOf(operations.setPassword.path, { token })}">
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
  return { title: titleOf('Set a password', refusals), body, scripts: [SEND_ONCE, SHOW_PASSWORD] };
}

/** For an account without a password too: the reader of the mailbox must not learn which it is. */
const WRONG_PASSWORD =
  'This is not the password of the account. If you have not set a password yet, first set one with the invitation sent to your present address.';

/** Asks for the password of the account: a reader of the new mailbox may be someone else. */
export function changeEmailPage(
  token: string,
  { email, clientName }: ChangeEmailPage,
  problem: string | undefined,
): PageContent {
  const refusals = problem === 'wrong' ? [{ input: 'password', message: WRONG_PASSWORD }] : [];
  const asker = clientName === undefined ? 'Support' : html`<strong>${clientName}</strong>`;
  const body = html`<div class="badge">${icons.mail}</div>
<h1>Change your email</h1>
<p class="lead">${asker} asks that you sign in as <strong>${email}</strong> from now on, wherever your account is used. Continue only if this is your own mailbox: anyone who reads it can reset your password.</p>
<form method="post" action="${addressOf(operations.changeEmail.path, { token })}">
${hidden('token', token)}
${textField({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
  hint: 'The one with which you sign in today. Your applications will ask you to sign in again.',
  refusals,
  // At first the text above must be read: it says who asks, and for which address.
  focused: refusals.length > 0,
})}
<div class="actions"><button id="change-email" type="submit">Change email</button></div>
</form>
<p class="note">If you did not expect this, close the page: nothing happens.</p>`;
  return { title: titleOf('Change your email', refusals), body, scripts: [SEND_ONCE, SHOW_PASSWORD] };
}
