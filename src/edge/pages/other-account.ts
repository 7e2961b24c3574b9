import { operations } from '../../../generated/openapi/sign-on-operations.js';
import { type Html, html } from './html.js';
import { icons } from './icons.js';

/** Who is signed in, with the way to be someone else. */
export function otherAccount(interaction: string, accountEmail: string): Html {
  const address = `${operations.showSignIn.path}?${new URLSearchParams({ interaction })}`;
  return html`<div class="account">${icons.person}<div>Signed in as <b>${accountEmail}</b><a href="${address}">Use another account</a></div></div>`;
}
