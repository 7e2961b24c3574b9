import { operations } from '../../../generated/openapi/sign-on-operations.js';
import type { Interaction, SignInPage } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { formAlert, hidden, SHOW_PASSWORD, textField } from './fields.js';
import { html } from './html.js';
import type { PageContent } from './layout.js';

/**
 * Asks for email and password. After a refusal it shows the errors and keeps the email. The email input has
 * type text: with type email, browsers refuse some addresses from before the rule of the contracts.
 * Cancel has a form of its own, which neither requires nor sends the inputs.
 */
export function signInPage(
  interaction: string,
  { csrfToken, applicationName, instanceName }: Interaction,
  { email, refusals, withoutAccess }: SignInPage,
): PageContent {
  const body = html`<h1>Sign in</h1>
<p class="lead">to continue to <strong>${applicationName}</strong></p>
${formAlert(refusals, ['email', 'password'])}
<form method="post" action="${operations.signIn.path}">
${hidden('interaction', interaction)}
${hidden('csrf_token', csrfToken)}
${textField({ name: 'email', label: 'Email', type: 'text', inputMode: 'email', autocomplete: 'username', value: email, refusals, focused: email === '' })}
${textField({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', refusals, focused: email !== '' })}
<div class="actions"><button id="sign-in" type="submit">Sign in</button></div>
</form>
<form method="post" action="${operations.cancelSignIn.path}">
${hidden('interaction', interaction)}
${hidden('csrf_token', csrfToken)}
<button id="cancel" type="submit" class="quiet">${withoutAccess ? `Back to ${applicationName}` : 'Cancel'}</button>
</form>
${!withoutAccess && html`<p class="note">Forgot your password, or no access yet? Ask the administrator of ${instanceName} to send you a link.</p>`}`;
  return { title: 'Sign in', brand: instanceName, body, scripts: [SHOW_PASSWORD] };
}
