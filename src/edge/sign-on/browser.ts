import type { Browser } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import type { AnyRequest } from '../contract/typed-handler.js';
import type { SignOnDependencies } from './sign-on-handler.js';

/** The facts about the browser for the domain. */
export function browserOf(request: AnyRequest, { cookies }: Pick<SignOnDependencies, 'cookies'>): Browser {
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
