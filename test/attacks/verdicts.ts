import { expect } from '@jest/globals';
import { SEEN_FIRST, SEND_ONCE, SHOW_PASSWORD } from '../../src/edge/pages/fields.js';
import type { Exchange } from '../support/http-exchange.js';

/** The page without the scripts of ours. */
export function withoutOwnScripts(body: string): string {
  return [SEEN_FIRST, SEND_ONCE, SHOW_PASSWORD].reduce(
    (rest, script) => rest.replace(`<script>${script}</script>`, ''),
    body,
  );
}

/** A page without links away, scripts but ours, frames and caching. */
export function expectPage(answer: Exchange, status: number, heading: string): void {
  expect([answer.status, /<h1>(.*?)<\/h1>/.exec(answer.body)?.[1]]).toEqual([status, heading]);
  expect(answer.headers.location).toBeUndefined();
  expect(answer.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  expect(answer.headers['content-security-policy']).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
  expect(answer.headers.refresh).toBeUndefined();
  expect(withoutOwnScripts(answer.body)).not.toMatch(/<script|http-equiv/i);
}

export function expectErrorPage(answer: Exchange, status = 400): void {
  expectPage(answer, status, 'Something went wrong');
}

/** The page of a sign-in that is over, or that belongs to another browser. */
export function expectStalePage(answer: Exchange): void {
  expectPage(answer, 400, 'This page is no longer open');
}

/** Where a redirect leads, taken apart as a browser would. */
export function redirectOf({ status, headers: { location = '' } }: Exchange) {
  expect([status, location]).toEqual([303, expect.stringMatching(/^[\x21-\x7e]+$/)]);
  const [target = '', query = ''] = location.split('?');
  return { target, parameters: [...new URLSearchParams(query)] };
}

/** The application gets the error at its own address, with `iss` and no code. */
export function expectRefusal(
  answer: Exchange,
  { target, issuer, error, state }: { target: string; issuer: string; error: string; state?: string },
): void {
  const redirect = redirectOf(answer);
  expect(redirect.target).toBe(target);
  expect(Object.fromEntries(redirect.parameters)).toEqual({
    error,
    error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/),
    iss: issuer,
    ...(state === undefined ? {} : { state }),
  });
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
}

/** JSON with `no-store` and without a token. */
export function expectOAuthError(answer: Exchange, status: number, error: string): void {
  expect([answer.status, JSON.parse(answer.body)]).toEqual([
    status,
    { error, error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/) },
  ]);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    pragma: 'no-cache',
  });
}
