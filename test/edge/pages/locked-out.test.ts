import { expect, test } from '@jest/globals';
import { lockedOutPage } from '../../../src/edge/pages/error.js';

const shown = (waitSeconds: number) =>
  String(
    lockedOutPage({
      message: 'Too many <attempts>.',
      waitSeconds,
      now: Date.parse('2026-07-01T23:58:30.000Z'),
      backUrl: '/auth/sign-in?interaction=x&y',
      requestId: 'request-1',
    }).body,
  );

test.each([
  [1, '1 second', '23:58:31 UTC'],
  [60, '60 seconds', '23:59:30 UTC'],
  [61, 'about 2 minutes', '2026-07-02 00:00 UTC'],
  [900, 'about 15 minutes', '2026-07-02 00:14 UTC'],
  [7_201, 'about 3 hours', '2026-07-02 01:59 UTC'],
])(
  'a wait of %i seconds is %s, and never ends before the time that is shown as its end',
  (seconds, words, at) => {
    expect(shown(seconds)).toContain(`<strong>${words}</strong>`);
    expect(shown(seconds)).toContain(`>${at}</time>`);
  },
);

test('what was too much and the way back are written as text', () => {
  expect(shown(1)).toContain('Too many &lt;attempts&gt;.');
  expect(shown(1)).toContain('href="/auth/sign-in?interaction=x&amp;y">Back</a>');
});
