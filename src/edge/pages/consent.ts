import { operations } from '../../../generated/openapi/sign-on-operations.js';
import {
  type ConsentPage,
  type Interaction,
  type SignInContext,
  UserType,
} from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { SEND_ONCE } from './fields.js';
import { type Html, html, webAddress } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';
import { interactionInputs, otherAccount } from './sign-in.js';

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

/** Names the application and what it will see. */
export function consentPage(
  interaction: string,
  { csrfToken, applicationName, instanceName, formActionSource }: Interaction,
  { accountEmail, scopes, logoUri, policyUri, tosUri, context, allowedBefore }: ConsentPage,
): PageContent {
  const seen = [always(instanceName), ...scopes.flatMap((scope) => seenWith(scope))];
  const image = webAddress(logoUri);
  const body = html`${image !== undefined && html`<img class="logo" src="${image}" alt="">`}
<h1>Allow <bdi>${applicationName}</bdi> to see who you are?</h1>
<p class="lead">If you allow it, the application sees:</p>
<ul class="scopes">
${seen.map(({ icon, what, more }) => html`<li>${icon}<div><b>${what}</b><span>${more}</span></div></li>`)}
</ul>
<form method="post" action="${operations.consent.path}">
${interactionInputs(interaction, csrfToken)}
<div class="actions">
<button id="approve" name="decision" value="approve">Allow</button>
<button id="deny" name="decision" value="deny" class="quiet">Do not allow</button>
</div>
</form>
${allowedBefore && html`<p class="note">You have allowed this before. If you do not allow it now, ${applicationName} loses its access.</p>`}
${formActionSource !== '' && html`<p class="note">Either way you go back to ${formActionSource}.</p>`}
${documentsOf(applicationName, [
  ['privacy policy', webAddress(policyUri)],
  ['terms of service', webAddress(tosUri)],
])}
${context && chosenContext(interaction, context)}
${otherAccount(interaction, accountEmail)}`;
  return { title: 'Allow access', brand: instanceName, body, image, scripts: [SEND_ONCE] };
}

/** What the person goes on as, with a way to change it. */
function chosenContext(interaction: string, { userType, clientName, roleName }: SignInContext): Html {
  const address = `${operations.showContexts.path}?${new URLSearchParams({ interaction })}`;
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
