import type { Browser, BrowserStep } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { hashSecret } from '../../identifiers/random-secrets.js';
import type { AnyRequest } from '../contract/typed-handler.js';
import { clearCookie, cookieNamed, setCookie } from '../http/cookies.js';

/** The facts about the browser for the domain. */
export function browserOf(request: AnyRequest, { cookies }: { cookies: SessionCookieJar }): Browser {
  return {
    sessionHash: cookies.hashIn(request.headers.cookie),
    device: cookies.deviceIn(request.headers.cookie),
    remoteAddress: request.clientAddress,
    userAgent: request.headers['user-agent'] ?? '',
  };
}

/** Whether the browser reports a request of another site. Programs and old browsers report nothing. */
export function isFromElsewhere(request: AnyRequest, signOnUrl: string): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) {
    return site !== 'same-origin' && site !== 'none';
  }
  const origin = request.headers.origin;
  // Our pages send no referrer, so browsers send `null` as their origin.
  return origin !== undefined && origin !== 'null' && origin !== new URL(signOnUrl).origin;
}

const FRAMES: readonly string[] = ['iframe', 'frame'];

/**
 * Whether a page makes the request by itself: as a picture, a call, or in advance. Such a request of another
 * site has no cookie. From a frame may come a silent renewal, and what a page of the same site asks.
 */
export function isEmbedded({ headers }: AnyRequest, isSilent: boolean): boolean {
  const { 'sec-fetch-dest': destination = 'document', 'sec-purpose': purpose = '' } = headers;
  const mayBeFrame = isSilent || headers['sec-fetch-site'] !== 'cross-site';
  return (
    String(purpose).startsWith('prefetch') ||
    (destination !== 'document' && !(mayBeFrame && FRAMES.includes(String(destination))))
  );
}

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
