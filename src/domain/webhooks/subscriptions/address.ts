import { ErrorCode, fieldRefusal } from '../../../errors/service-error.js';

const MAX_URL_LENGTH = 2_048;

/** The characters of a URI (RFC 3986), without those that browsers would normalize. */
const WEB_ADDRESS = /^https?:\/\/[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/i;

/**
 * Our keys and secrets. Addresses are shown, logged and sent to proxies. Words may end like a prefix
 * (`analytics_live_…`).
 */
const CREDENTIAL =
  /(?<![0-9A-Za-z])(ik|cs|operator|platform|support|auditor|key_custodian|service|edge|relay|maintenance)_(live|demo)_[0-9A-Za-z]{20}|whsec_/;

export interface AddressPolicy {
  environment: 'live' | 'demo';
  addressGuard: AddressGuard;
}

/** The address in canonical form, if deliveries may go there. It must have no fault. */
export async function allowedAddress(
  text: string,
  { environment, addressGuard }: AddressPolicy,
): Promise<string> {
  const url = new URL(text);
  const refusal =
    environment === 'live' && url.protocol !== 'https:' ? 'must be https' : await addressGuard.refusalOf(url);
  if (refusal !== undefined) {
    throw fieldRefusal(ErrorCode.WEBHOOK_URL_REFUSED, `The address ${refusal}.`, 'url', refusal);
  }
  return url.href;
}

/** Faults of the text alone. */
export function faultOfAddress(text: string): string | undefined {
  if (text === '') {
    return 'must not be empty';
  }
  if (text.length > MAX_URL_LENGTH) {
    return `must not be longer than ${MAX_URL_LENGTH} characters`;
  }
  if (text.includes('#')) {
    return 'must not have a fragment';
  }
  if (!WEB_ADDRESS.test(text) || !URL.canParse(text)) {
    return 'must be an absolute http or https address in ASCII, such as https://hooks.example.com/integration';
  }
  const { username, password, href, port } = new URL(text);
  if (username !== '' || password !== '') {
    return 'must not contain credentials';
  }
  if (port === '0') {
    return 'must not name port 0, on which nothing can listen';
  }
  return CREDENTIAL.test(decoded(href))
    ? 'must not contain an API key or another secret of this service'
    : undefined;
}

/** Byte by byte: no encoded character then looks like a letter before a key. */
function decoded(href: string): string {
  return href.replace(/%([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Keeps deliveries out of non-public networks. */
export interface AddressGuard {
  /** Why deliveries must not go to the host, such as "resolves to 10.0.0.7, …"; undefined where they may. */
  refusalOf(url: URL): Promise<string | undefined>;
}
