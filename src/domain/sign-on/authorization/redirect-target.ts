import type { Application, RedirectUri } from '../../operator/rows/applications.js';

/**
 * Exact comparison (RFC 9700, 2.1): a parser may read an address differently from the browser and send the
 * code elsewhere. The redirect uses the registered address.
 */
export function registeredRedirect(application: Application, uri: string): RedirectUri | undefined {
  return application.redirectUris.find((registered) => registered.uri === uri);
}

/** As for redirect URIs. */
export function isRegisteredForLogout(application: Application, uri: string): boolean {
  return application.postLogoutRedirectUris.some((registered) => registered === uri);
}

/** Adds the answer to the query of the address. */
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

/** The CSP source of the redirect: an origin or, for an app, its scheme. */
export function formActionSource(uri: string): string {
  const { protocol, origin } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? origin : protocol;
}

/** Browsers write every line break of a form as CR LF. */
const CHANGED_BY_FORMS = /[\r\n]/;

/** Why no form can bring the answer there; undefined if one can. */
export function faultOfFormPost(redirectUri: string, state: string | null | undefined): string | undefined {
  // An app is opened by an address, and takes no form.
  if (!/^https?:$/.test(new URL(redirectUri).protocol)) {
    return 'response_mode form_post needs a redirect_uri that is https or http.';
  }
  return CHANGED_BY_FORMS.test(state ?? '')
    ? 'state has line breaks, which a form does not return unchanged.'
    : undefined;
}
