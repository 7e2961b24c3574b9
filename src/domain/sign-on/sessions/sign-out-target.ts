import { withAnswer } from '../authorization/redirect-target.js';
import type { SignOutRequest } from '../interaction/interactions.js';
import { type BrowserStep, toPage } from './browser.js';

/** Where a browser goes after a sign-out: a proven address of the application, or our own page. */
export function afterSignOut({ postLogoutRedirectUri, state }: SignOutRequest): BrowserStep {
  return postLogoutRedirectUri === null
    ? toPage('signed_out')
    : { kind: 'redirect', location: withAnswer(postLogoutRedirectUri, { state }) };
}
