import type { SessionCookie } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { hashSecret } from '../../identifiers/secret-hash.js';
import { clearCookie, cookieNamed, setCookie } from '../http/cookies.js';

/** 32 bytes in base64url, as the domain makes them. Anything else in the cookie is none of ours. */
const VALUE = /^[A-Za-z0-9_-]{43}$/;

export interface CookieHeaders {
  'Set-Cookie'?: string;
  'Clear-Site-Data'?: '"cache"';
}

/** The one cookie: which session a browser has. Live and demo on one host have two, so that neither knows the other. */
export class SessionCookieJar {
  readonly name: string;
  readonly #secure: boolean;

  constructor({ signOnUrl, environment }: { signOnUrl: string; environment: 'live' | 'demo' }) {
    this.#secure = signOnUrl.startsWith('https:');
    // With the prefix browsers take it from this very host over https, and from nobody else.
    const prefix = this.#secure ? '__Host-' : '';
    this.name = `${prefix}integration_session${environment === 'demo' ? '_demo' : ''}`;
  }

  /** The only form in which the cookie goes on from here. */
  hashIn(cookieHeader: string | undefined): Buffer | undefined {
    const value = cookieNamed(this.name, cookieHeader);
    return value !== undefined && VALUE.test(value) ? hashSecret(value) : undefined;
  }

  /** The header that makes a change; none where the cookie stays as it is. */
  headersOf(cookie: SessionCookie | undefined): CookieHeaders {
    switch (cookie?.change?.$case) {
      case 'setValue': {
        const { value } = cookie.change;
        const options = { secure: this.#secure, expiresAt: cookie.expiresAt };
        return { 'Set-Cookie': setCookie(this.name, value, options) };
      }
      case 'clear':
        // Browsers may keep whole pages in memory for Back, also those that say no-store; none of this person's may come back.
        return { 'Set-Cookie': clearCookie(this.name, this.#secure), 'Clear-Site-Data': '"cache"' };
      default:
        return {};
    }
  }
}
