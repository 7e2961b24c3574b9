import type { FormPost } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { hidden } from './fields.js';
import { html } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';

/**
 * Waits for the whole page, which stays if the application cannot be reached. A button pressed meanwhile
 * would send the code again, and an application that redeems it twice loses its tokens; so it rests for ten
 * seconds.
 */
export const SEND_FORM = `addEventListener('DOMContentLoaded', () => {
  const button = document.getElementById('continue');
  document.forms[0].submit();
  button.disabled = true;
  setTimeout(() => { button.disabled = false; }, 10000);
})`;

/** Brings the application its answer, by itself or, without scripts, with the button. */
export function formPostPage({ action, fields, applicationName }: FormPost): PageContent {
  const heading = `Back to ${applicationName}`;
  const body = html`<div class="badge">${icons.away}</div>
<h1>${heading}</h1>
<p class="lead">If your browser does not continue by itself, choose Continue.</p>
<form method="post" action="${action}">
${fields.map(({ name, value }) => hidden(name, value))}
<div class="actions"><button id="continue" type="submit">Continue</button></div>
</form>`;
  return { title: heading, body, scripts: [SEND_FORM] };
}
