import type { FormPost } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import type { EnterableApplication } from '../../../generated/proto/integration/sign_on/v1/links.js';
import { hidden } from './fields.js';
import { type Html, html, webAddress } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';

/**
 * Waits for the whole page, which stays if the application cannot be reached. A second submit would send the
 * code again, and an application that redeems a code twice loses its tokens, so the button is disabled for
 * ten seconds.
 */
export const SEND_FORM = `addEventListener('DOMContentLoaded', () => {
  const button = document.getElementById('continue');
  document.forms[0].submit();
  button.disabled = true;
  setTimeout(() => { button.disabled = false; }, 10000);
})`;

/** Brings the application its answer, by itself or, without scripts, with the button. */
export function formPostPage({ action, fields, applicationName }: FormPost): PageContent {
  const body = html`<div class="badge">${icons.away}</div>
<h1>Back to <bdi>${applicationName}</bdi></h1>
<p class="lead">If your browser does not continue by itself, choose Continue.</p>
<form method="post" action="${action}">
${fields.map(({ name, value }) => hidden(name, value))}
<div class="actions"><button id="continue" type="submit">Continue</button></div>
</form>`;
  return { title: `Back to ${applicationName}`, body, scripts: [SEND_FORM] };
}

/** The domain names at most this many applications of a person; there may be more. */
const MOST_NAMED = 5;

/** Leads on to the applications of the person, or names them. */
export function passwordSetPage(applications: readonly EnterableApplication[]): PageContent {
  const several = new Set(applications.map(({ instanceName }) => instanceName)).size > 1;
  const named = applications.map(({ name, instanceName, signInUrl }) => ({
    name: several ? `${name} on ${instanceName}` : name,
    address: webAddress(signInUrl),
  }));
  const [linked, unlinked] = [true, false].map((wanted) =>
    named.filter(({ address }) => (address !== undefined) === wanted),
  ) as [typeof named, typeof named];
  const rest = unlinked.map(({ name }) => html`<bdi>${name}</bdi>`);
  const lead =
    linked.length > 0
      ? html`Go on to your application and sign in with it.`
      : html`You can now sign in to ${listed(rest) ?? 'your application'}.`;
  const { body, ...page } = ending('Password set', 'Your password is set', lead);
  const buttons = linked.map(
    ({ name, address }, index) =>
      html`<a class="button${index > 0 && ' quiet'}" href="${address}">Sign in to ${name}</a>`,
  );
  const onward = html`${body}
<div class="actions">
${buttons}
</div>
${rest.length > 0 && html`<p class="note">You can also sign in to ${listed(rest)}.</p>`}`;
  const more =
    named.length >= MOST_NAMED &&
    html`<p class="note">Your application is not among them? Open it, and sign in there.</p>`;
  return { ...page, body: html`${linked.length > 0 ? onward : body}${more}` };
}

/** `A`, `A and B`, `A, B and C` */
function listed(names: readonly Html[]): Html | undefined {
  const last = names.at(-1);
  const before = names.slice(0, -1).map((name, index) => html`${index > 0 && ', '}${name}`);
  return names.length > 1 ? html`${before} and ${last}` : last;
}

/** Pages without a next step. */
export const emailVerifiedPage = ending(
  'Email verified',
  'Your email address is verified',
  html`Thank you. Go on in your application; you can close this page.`,
);

export const emailChangedPage = ending(
  'Email changed',
  'Your email address has changed',
  html`Your applications ask you to sign in again, some of them only after a while. Sign in with the new address; your password is the same.`,
);

export const signedOutPage = ending(
  'Signed out',
  'You are signed out',
  html`Applications that you have open may keep you signed in: sign out of them too. On a shared computer, also close the browser.`,
);

function ending(title: string, heading: string, lead: Html): PageContent {
  const body = html`<div class="badge good">${icons.done}</div>
<h1>${heading}</h1>
<p class="lead">${lead}</p>`;
  return { title, body };
}
