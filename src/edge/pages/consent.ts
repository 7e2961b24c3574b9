import { operations } from '../../../generated/openapi/sign-on-operations.js';
import type { ConsentPage, Interaction } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { hidden } from './fields.js';
import { type Html, html } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';
import { otherAccount } from './other-account.js';

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
  { accountEmail, scopes }: ConsentPage,
): PageContent {
  const seen = [always(instanceName), ...scopes.flatMap((scope) => seenWith(scope))];
  const body = html`<h1>Allow ${applicationName} to see who you are?</h1>
<p class="lead">If you allow it, the application sees:</p>
<ul class="scopes">
${seen.map(({ icon, what, more }) => html`<li>${icon}<div><b>${what}</b><span>${more}</span></div></li>`)}
</ul>
<form method="post" action="${operations.consent.path}">
${hidden('interaction', interaction)}
${hidden('csrf_token', csrfToken)}
<div class="actions">
<button id="approve" name="decision" value="approve">Allow</button>
<button id="deny" name="decision" value="deny" class="quiet">Do not allow</button>
</div>
</form>
${formActionSource !== '' && html`<p class="note">Either way you go back to ${formActionSource}.</p>`}
${otherAccount(interaction, accountEmail)}`;
  return { title: 'Allow access', brand: instanceName, body };
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
