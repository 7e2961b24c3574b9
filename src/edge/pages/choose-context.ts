import { operations } from '../../../generated/openapi/sign-on-operations.js';
import {
  type ContextPage,
  type Interaction,
  type SignInContext,
  UserType,
} from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { formAlert, hidden } from './fields.js';
import { type Html, html } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';
import { otherAccount } from './other-account.js';

/** Offers the contexts of a person, the last used one first. */
export function chooseContextPage(
  interaction: string,
  { csrfToken, applicationName, instanceName }: Interaction,
  { accountEmail, contexts, refusals }: ContextPage,
): PageContent {
  const offered = [...contexts].sort((one, other) => Number(other.lastUsed) - Number(one.lastUsed));
  const body = html`<h1>Continue as</h1>
<p class="lead">${offered.length > 1 ? 'You have more than one role. Choose the one' : 'This is the role'} to use in <strong>${applicationName}</strong>.</p>
${formAlert(refusals, [])}
<form method="post" action="${operations.chooseContext.path}">
${hidden('interaction', interaction)}
${hidden('csrf_token', csrfToken)}
<ul class="choices">
${offered.map(choice)}
</ul>
</form>
<p class="note">Your choice is for all applications of ${instanceName} until you sign in again.</p>
<form method="post" action="${operations.cancelSignIn.path}">
${hidden('interaction', interaction)}
${hidden('csrf_token', csrfToken)}
<button id="cancel" type="submit" class="quiet">Cancel</button>
</form>
${otherAccount(interaction, accountEmail)}`;
  return { title: 'Continue as', brand: instanceName, body };
}

function choice({ userType, clientId, clientName, roleName, lastUsed }: SignInContext): Html {
  const isUser = userType === UserType.USER;
  const value = `${isUser ? 'USER' : 'WORKER'}:${clientId}`;
  const role = isUser ? `Dashboard user${roleName ? ` · ${roleName}` : ''}` : 'Worker';
  return html`<li><button name="context" value="${value}">${isUser ? icons.users : icons.worker}<span class="what"><b>${clientName}</b><span>${role}</span></span>${lastUsed && html`<span class="last">Last used</span>`}</button></li>`;
}
