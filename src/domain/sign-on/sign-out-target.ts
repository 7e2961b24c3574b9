import { type BrowserStep, toPage } from './browser.js';
import type { SignOutRequest } from './interactions.js';
import { withAnswer } from './redirect-target.js';

/** Where a browser goes once nobody is signed in: to the application, at an address proven to be its own, or to a page of ours. */
export function afterSignOut({ postLogoutRedirectUri, state }: SignOutRequest): BrowserStep {
  return postLogoutRedirectUri === null
    ? toPage('signed_out')
    : { kind: 'redirect', location: withAnswer(postLogoutRedirectUri, { state }) };
}
