import type { Application, RedirectUri } from '../operator/applications.js';

/**
 * Compared as texts, character by character (RFC 9700, section 2.1): whatever takes an address apart may take it apart otherwise than the browser does, and then
 * a code goes to a stranger. The registered address, not the one received, is where people are sent.
 */
export function registeredRedirect(application: Application, uri: string): RedirectUri | undefined {
  return application.redirectUris.find((registered) => registered.uri === uri);
}

/** As for redirect URIs. */
export function isRegisteredForLogout(application: Application, uri: string): boolean {
  return application.postLogoutRedirectUris.some((registered) => registered === uri);
}

/** The address with the answer in its query; a query it has of its own stays as it is. */
export function withAnswer(uri: string, answer: Readonly<Record<string, string | null>>): string {
  const query = Object.entries(answer)
    .flatMap(([name, value]) => (value === null ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join('&');
  if (query === '') {
    return uri;
  }
  const own = uri.indexOf('?');
  if (own === -1) {
    return `${uri}?${query}`;
  }
  return own === uri.length - 1 || uri.endsWith('&') ? `${uri}${query}` : `${uri}&${query}`;
}

/** The place that the way back begins at: an origin or, for an app, its scheme, which stands for all its addresses. */
export function formActionSource(uri: string): string {
  const { protocol, origin } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? origin : protocol;
}
