import { type Html, html } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';

/** Pages without a next step. */
export const passwordSetPage = ending(
  'Password set',
  'Your password is set',
  html`Go back to your application and sign in with it.`,
);

export const emailVerifiedPage = ending(
  'Email verified',
  'Your email address is verified',
  html`Thank you. You can close this page.`,
);

export const emailChangedPage = ending(
  'Email changed',
  'Your email address has changed',
  html`You are signed out everywhere. Sign in with the new address from now on; your password is the same.`,
);

export const signedOutPage = ending(
  'Signed out',
  'You are signed out',
  html`You can close this page. On a shared computer, close the browser too.`,
);

function ending(title: string, heading: string, lead: Html): PageContent {
  const body = html`<div class="badge good">${icons.done}</div>
<h1>${heading}</h1>
<p class="lead">${lead}</p>`;
  return { title, body };
}
