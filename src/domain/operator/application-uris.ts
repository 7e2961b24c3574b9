const MAX_LENGTH = 2_000;

/** The characters of a URI (RFC 3986): no blanks, backslashes or others that browsers would normalize. */
const URI = /^[a-z][a-z0-9+.-]*:[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/;

const WEB_PAGE = /^https?:\/\/[^/]/;

/** Hosts that Content-Security-Policy can express: not `[::1]`, no `_`. */
const NAMEABLE_HOST = /^[a-z0-9.-]+$/i;

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Parameters that we add there: none may come twice (RFC 6749, 3.1). */
const OF_ANSWERS: readonly string[] = ['code', 'state', 'iss', 'error', 'error_description'];
export const AFTER_LOGOUT: readonly string[] = ['state'];

/**
 * Why an application must not have this redirect URI, also after a sign-out; undefined if it may. Custom
 * schemes are reversed domain names (RFC 8252), which excludes `javascript:`.
 */
export function faultOfRedirectUri(
  uri: string,
  type: 'confidential' | 'public',
  added = OF_ANSWERS,
): string | undefined {
  if (uri.length > MAX_LENGTH) {
    return `must not be longer than ${MAX_LENGTH} characters`;
  }
  if (uri.includes('#')) {
    return 'must not have a fragment';
  }
  if (!URI.test(uri) || !URL.canParse(uri)) {
    return 'must be an absolute address, such as https://app.example.com/callback';
  }
  const { protocol, hostname, username, password, searchParams } = new URL(uri);
  if (username !== '' || password !== '') {
    return 'must not contain credentials';
  }
  const repeated = added.find((name) => searchParams.has(name));
  if (repeated !== undefined) {
    return `must not have ${repeated} in its query, a parameter that the service adds`;
  }
  if (protocol === 'https:' || protocol === 'http:') {
    return faultOfWebRedirect(uri, protocol, hostname);
  }
  if (type !== 'public') {
    return 'must be an https address; only public applications may have a scheme of their own';
  }
  return protocol.includes('.')
    ? undefined
    : 'must have a scheme that is a domain name in reverse, such as com.example.app:/callback';
}

/** Why an application must not have this link, such as that of its terms; undefined if it may. */
export function faultOfLink(uri: string, environment: 'live' | 'demo'): string | undefined {
  if (uri.length > MAX_LENGTH) {
    return `must not be longer than ${MAX_LENGTH} characters`;
  }
  if (!WEB_PAGE.test(uri) || !URI.test(uri.replace('#', '')) || !URL.canParse(uri)) {
    return 'must be a web address, such as https://app.example.com/terms';
  }
  const { protocol, username, password } = new URL(uri);
  if (username !== '' || password !== '') {
    return 'must not contain credentials';
  }
  return protocol === 'http:' && environment === 'live' ? 'must be https' : undefined;
}

/** The same for a logo, which a page may load only from an origin that its policy can name. */
export function faultOfLogo(uri: string, environment: 'live' | 'demo'): string | undefined {
  const fault = faultOfLink(uri, environment);
  return fault === undefined && !NAMEABLE_HOST.test(new URL(uri).hostname)
    ? 'must have a host name or an IPv4 address as its host: browsers load no pictures from others'
    : fault;
}

function faultOfWebRedirect(uri: string, protocol: string, hostname: string): string | undefined {
  if (!uri.startsWith(`${protocol}//`)) {
    return 'must be an absolute address, such as https://app.example.com/callback';
  }
  if (hostname.includes('*')) {
    return 'must not contain a wildcard: addresses are matched exactly';
  }
  return protocol === 'http:' && !LOOPBACK_HOSTS.has(hostname)
    ? 'must be https; http is for loopback addresses'
    : undefined;
}
