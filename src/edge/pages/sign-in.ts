import { operations } from '../../../generated/openapi/sign-on-operations.js';
import {
  type ConsentPage,
  type ContextPage,
  type Interaction,
  type SignInContext,
  type SignInPage,
  type SignOutPage,
  UserType,
} from '../../../generated/proto/integration/sign_on/v1/browser.js';
import {
  addressOf,
  FORM_ERROR,
  formAlert,
  hidden,
  SEEN_FIRST,
  SEND_ONCE,
  SHOW_PASSWORD,
  textField,
  titleOf,
} from './fields.js';
import { type Html, html, webAddress } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';

/**
 * Asks for email and password. After a refusal it shows the errors and keeps the email. The email input has
 * type text: with type email, browsers refuse some addresses from before the rule of the contracts.
 */
export function signInPage(
  interaction: string,
  { csrfToken, applicationName, instanceName }: Interaction,
  { email, refusals, withoutAccess }: SignInPage,
): PageContent {
  const alert = formAlert(refusals, ['email', 'password']);
  const describedBy = alert && FORM_ERROR;
  const body = html`<h1>Sign in</h1>
<p class="lead">to continue to <strong>${applicationName}</strong></p>
${alert}
<form method="post" action="${addressOf(operations.signIn.path, { interaction })}">
${interactionInputs(interaction, csrfToken)}
${textField({ name: 'email', label: 'Email', type: 'text', inputMode: 'email', autocomplete: 'username', value: email, refusals, focused: email === '', describedBy })}
${textField({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', refusals, focused: email !== '', describedBy })}
<div class="actions"><button id="sign-in" type="submit">Sign in</button></div>
</form>
${cancelForm(interaction, csrfToken, withoutAccess ? `Back to ${applicationName}` : 'Cancel')}
${!withoutAccess && html`<p class="note">Forgot your password, or no access yet? Ask the administrator of ${instanceName} to send you a link.</p>`}`;
  return {
    title: titleOf('Sign in', refusals),
    brand: instanceName,
    body,
    scripts: [SEND_ONCE, SHOW_PASSWORD],
  };
}

const byName = new Intl.Collator('en', { numeric: true });
const NEITHER_LETTER_NOR_DIGIT = /[^\p{L}\p{N}]/gu;

/** Offers the contexts of a person by the names of the clients, the last used one first. */
export function chooseContextPage(
  interaction: string,
  { csrfToken, applicationName, instanceName }: Interaction,
  { accountEmail, contexts, refusals }: ContextPage,
): PageContent {
  const offered = [...contexts].sort(
    (one, other) =>
      Number(other.lastUsed) - Number(one.lastUsed) || byName.compare(one.clientName, other.clientName),
  );
  const alike = alikeAmong(offered);
  const alert = formAlert(refusals, []);
  const body = html`<h1>Continue as</h1>
<p class="lead">${offered.length > 1 ? 'You have more than one role. Choose the one' : 'This is the role'} to use in <strong>${applicationName}</strong>.</p>
${alert}
<form method="post" action="${addressOf(operations.chooseContext.path, { interaction })}">
${interactionInputs(interaction, csrfToken)}
<ul class="choices">
${offered.map((one, place) => choice(one, alike.has(one.clientId), alert !== undefined && place === 0))}
</ul>
</form>
<p class="note">Your choice is for all applications of ${instanceName} until you sign in again.</p>
${cancelForm(interaction, csrfToken)}
${otherAccount(interaction, accountEmail)}`;
  return {
    title: titleOf('Continue as', refusals),
    brand: instanceName,
    body,
    scripts: [SEEN_FIRST, SEND_ONCE],
  };
}

/**
 * The clients whose names look alike, as they need not be unique: names that differ at most in case, accents,
 * spaces and punctuation.
 */
function alikeAmong(offered: readonly SignInContext[]): Set<string> {
  const firstOf = new Map<string, string>();
  const alike = new Set<string>();
  for (const { clientId, clientName } of offered) {
    const look = clientName.normalize('NFKD').replace(NEITHER_LETTER_NOR_DIGIT, '').toLowerCase();
    const first = firstOf.get(look) ?? clientId;
    firstOf.set(look, first);
    if (first !== clientId) {
      alike.add(first).add(clientId);
    }
  }
  return alike;
}

/** After a refusal the first choice has the focus, which the error describes. */
function choice(
  { userType, clientId, clientName, roleName, lastUsed, invited }: SignInContext,
  isAlike: boolean,
  isDescribed: boolean,
): Html {
  const isUser = userType === UserType.USER;
  const value = `${isUser ? 'USER' : 'WORKER'}:${clientId}`;
  const role = isUser ? `Dashboard user${roleName ? ` · ${roleName}` : ''}` : 'Worker';
  const badge = lastUsed ? 'Last used' : invited && 'Not used yet';
  return html`<li><button name="context" value="${value}"${isDescribed && html` aria-describedby="${FORM_ERROR}" autofocus`}>${isUser ? icons.users : icons.worker}<span class="what"><b>${clientName}</b><span>${role}${isAlike && ` · ${clientId}`}</span></span>${badge && html`<span class="last">${badge}</span>`}</button></li>`;
}

/** A form of its own, which neither requires nor sends the inputs of the other. */
function cancelForm(interaction: string, csrfToken: string, label = 'Cancel'): Html {
  return html`<form method="post" action="${addressOf(operations.cancelSignIn.path, { interaction })}">
${interactionInputs(interaction, csrfToken)}
<button id="cancel" type="submit" class="quiet">${label}</button>
</form>`;
}

/** By these the domain knows to which sign-in a form belongs. */
function interactionInputs(interaction: string, csrfToken: string): Html {
  return html`${hidden('interaction', interaction)}
${hidden('csrf_token', csrfToken)}`;
}

/** A way to change the signed-in account, which is named unless the page names it above. */
function otherAccount(interaction: string, accountEmail?: string): Html {
  const address = addressOf(operations.showSignIn.path, { interaction });
  return html`<div class="account">${icons.person}<div>${accountEmail !== undefined && html`Signed in as <b>${accountEmail}</b>`}<a href="${address}">Use another account</a></div></div>`;
}

/** Asks before it signs out, because any site could have sent the browser here. */
export function signOutPage(
  interaction: string,
  { csrfToken, accountEmail, applicationName }: SignOutPage,
): PageContent {
  const body = html`<div class="badge">${icons.away}</div>
<h1>Sign out?</h1>
<p class="lead">You are signed in as <strong>${accountEmail}</strong>.${applicationName && html` <strong>${applicationName}</strong> asks whether you want to sign out.`}</p>
<form method="post" action="${addressOf(operations.signOut.path, { interaction })}">
${interactionInputs(interaction, csrfToken)}
<div class="actions"><button id="sign-out" type="submit">Sign out</button></div>
</form>
<p class="note">To stay signed in, close this page.</p>`;
  return { title: 'Sign out', body, scripts: [SEND_ONCE] };
}

interface Seen {
  icon: Html;
  what: string;
  more: string;
}

/** The claims of a scope, in words. What every application sees comes first. */
const SCOPES: Record<string, Seen> = {
  profile: { icon: icons.person, what: 'Your name', more: 'First name and last name' },
  email: { icon: icons.mail, what: 'Your email address', more: 'And whether you have confirmed it' },
};

const always = (instanceName: string): Seen => ({
  icon: icons.users,
  what: 'Who you are here',
  more: `The companies you work for or manage on ${instanceName}, and which one you chose last`,
});

/** Names the application and what it will see. What the decision means comes before its buttons. */
export function consentPage(
  interaction: string,
  { csrfToken, applicationName, instanceName, formActionSource }: Interaction,
  { accountEmail, scopes, logoUri, policyUri, tosUri, context, allowedBefore }: ConsentPage,
): PageContent {
  const seen = [always(instanceName), ...scopes.flatMap((scope) => seenWith(scope))];
  const image = webAddress(logoUri);
  const body = html`${image !== undefined && html`<img class="logo" src="${image}" alt="">`}
<h1>Allow <bdi>${applicationName}</bdi> to see who you are?</h1>
<p class="lead">You are signed in as <strong>${accountEmail}</strong>. If you allow it, the application sees:</p>
<ul class="scopes">
${seen.map(({ icon, what, more }) => html`<li>${icon}<div><b>${what}</b><span>${more}</span></div></li>`)}
</ul>
<p class="note">${applicationName} may keep this access after you have signed out, until it is ended: ask the administrator of ${instanceName} for that.</p>
${allowedBefore && html`<p class="note" id="withdraws">You have allowed this before. If you do not allow it now, ${applicationName} loses its access.</p>`}
<form method="post" action="${addressOf(operations.consent.path, { interaction })}">
${interactionInputs(interaction, csrfToken)}
<div class="actions">
<button id="approve" name="decision" value="approve">Allow</button>
<button id="deny" name="decision" value="deny" class="quiet"${allowedBefore && html` aria-describedby="withdraws"`}>Do not allow</button>
</div>
</form>
${formActionSource !== '' && html`<p class="note">Either way you go back to ${formActionSource}.</p>`}
${documentsOf(applicationName, [
  ['privacy policy', webAddress(policyUri)],
  ['terms of service', webAddress(tosUri)],
])}
${context && chosenContext(interaction, context)}
${otherAccount(interaction)}`;
  return { title: 'Allow access', brand: instanceName, body, image, scripts: [SEEN_FIRST, SEND_ONCE] };
}

/** What the person goes on as, with a way to change it. */
function chosenContext(interaction: string, { userType, clientName, roleName }: SignInContext): Html {
  const address = addressOf(operations.showContexts.path, { interaction });
  const isUser = userType === UserType.USER;
  const role = isUser ? `dashboard user${roleName ? ` (${roleName})` : ''}` : 'worker';
  return html`<div class="account">${isUser ? icons.users : icons.worker}<div>Continuing as ${role} of <b>${clientName}</b><a href="${address}">Change</a></div></div>`;
}

/** Links to the application's own documents, which open in a new tab, so that the sign-in stays open. */
function documentsOf(
  applicationName: string,
  documents: readonly [string, string | undefined][],
): Html | false {
  const links = documents.flatMap(([what, address]) =>
    address === undefined
      ? []
      : [html`<a href="${address}" target="_blank" rel="noopener noreferrer">${what}</a>`],
  );
  const [first, second] = links;
  return (
    first !== undefined &&
    html`<p class="note">Read the ${first}${second && html` and the ${second}`} of ${applicationName}, in a new tab.</p>`
  );
}

/** A scope without words is shown by its name, so that none is hidden. */
function seenWith(scope: string): Seen[] {
  if (scope === 'openid') {
    return [];
  }
  return [
    Object.hasOwn(SCOPES, scope)
      ? (SCOPES[scope] as Seen)
      : { icon: icons.key, what: scope, more: 'Asked for by this application' },
  ];
}
