import { operations } from '../../../generated/openapi/sign-on-operations.js';
import { type Html, html } from './html.js';
import { icons } from './icons.js';

/** The signed-in account, with a way to change it. */
export function otherAccount(interaction: string, accountEmail: string): Html {
  const address = `${operations.showSignIn.path}?${new URLSearchParams({ interaction })}`;
  return html`<div class="account">${icons.person}<div>Signed in as <b>${accountEmail}</b><a href="${address}">Use another account</a></div></div>`;
}
