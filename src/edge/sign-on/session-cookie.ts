import type { BrowserStep } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { hashSecret } from '../../identifiers/random-secrets.js';
import { clearCookie, cookieNamed, setCookie } from '../http/cookies.js';

/** 32 bytes in base64url, as the domain makes them. */
const VALUE = /^[A-Za-z0-9_-]{43}$/;

/** An id and a seal for each person who has signed in, as the domain makes them. */
const DEVICE = /^[A-Za-z0-9_-]{22}(?:\.[A-Za-z0-9_-]{43}){1,8}$/;
/** The longest lifetime that browsers accept. */
const DEVICE_MS = 400 * 86_400_000;

export interface CookieHeaders {
  'Set-Cookie'?: string | string[];
  'Clear-Site-Data'?: '"cache"';
}

/** The session cookie and the device cookie. Live and demo on one host use different names. */
export class SessionCookieJar {
  readonly name: string;
  readonly deviceName: string;
  readonly #secure: boolean;

  constructor({ signOnUrl, environment }: { signOnUrl: string; environment: 'live' | 'demo' }) {
    this.#secure = signOnUrl.startsWith('https:');
    // With this prefix, browsers accept a cookie only from this host over https.
    const prefix = this.#secure ? '__Host-' : '';
    const suffix = environment === 'demo' ? '_demo' : '';
    this.name = `${prefix}integration_session${suffix}`;
    this.deviceName = `${prefix}integration_device${suffix}`;
  }

  /** The hash of the session cookie; the domain never gets the cookie itself. */
  hashIn(cookieHeader: string | undefined): Buffer | undefined {
    const value = cookieNamed(this.name, cookieHeader);
    return value !== undefined && VALUE.test(value) ? hashSecret(value) : undefined;
  }

  /** The device cookie, for the domain to check; undefined if its format is wrong. */
  deviceIn(cookieHeader: string | undefined): string | undefined {
    const value = cookieNamed(this.deviceName, cookieHeader);
    return value !== undefined && DEVICE.test(value) ? value : undefined;
  }

  /** The headers for the cookie changes of a step, if any. */
  headersOf(step: Pick<BrowserStep, 'sessionCookie' | 'device'> | undefined): CookieHeaders {
    const session = this.#sessionHeaders(step?.sessionCookie);
    if (step?.device === undefined) {
      return session;
    }
    const expiresAt = new Date(Date.now() + DEVICE_MS);
    const device = setCookie(this.deviceName, step.device, { secure: this.#secure, expiresAt });
    return { ...session, 'Set-Cookie': [session['Set-Cookie'] ?? [], device].flat() };
  }

  #sessionHeaders(cookie: BrowserStep['sessionCookie']): CookieHeaders {
    switch (cookie?.change?.$case) {
      case 'setValue': {
        const { value } = cookie.change;
        return { 'Set-Cookie': setCookie(this.name, value, { secure: this.#secure }) };
      }
      case 'clear':
        // Despite no-store, browsers may keep pages in memory for Back; this clears those of the person.
        return { 'Set-Cookie': clearCookie(this.name, this.#secure), 'Clear-Site-Data': '"cache"' };
      default:
        return {};
    }
  }
}
