import { createSecretKey, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signaturesOf } from '../../src/delivery/sender.js';
import { eventually } from '../support/eventually.js';
import { fakeTimeouts } from '../support/fake-timeouts.js';
import { turns } from '../support/turns.js';
import { answerWith, webhookReceivers } from '../support/webhooks/receiver.js';
import { rawReceivers } from './raw-receivers.js';
import { body, secret, senders, signingKey, targetAt, VERSION } from './senders.js';

const open = senders();
const raw = rawReceivers();
const start = webhookReceivers();

describe('one attempt', () => {
  test('posts the exact bytes, signed for every valid secret, and says who it is', async () => {
    const receiver = await start(answerWith(200, { 'content-type': 'text/plain' }, 'thanks'));
    const older = randomBytes(32);
    const report = await open().attempt(
      {
        url: `${receiver.url}?team=a%20b`,
        signingSecrets: [secret, older].map((key) => createSecretKey(key)),
      },
      body,
    );
    expect(report).toMatchObject({ outcome: 'SUCCEEDED', httpStatus: 200, message: '' });
    expect(report.responseStart.toString()).toBe('thanks');
    const [{ method, path, headers, body: came }] = receiver.received as [(typeof receiver.received)[0]];
    expect({ method, path }).toEqual({ method: 'POST', path: '/hook?team=a%20b' });
    expect(came.equals(body.body)).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(body.body.length),
      'user-agent': `IntegrationService-Webhooks/${VERSION}`,
      'webhook-id': body.eventId,
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/),
    });
    expect(Object.keys(headers)).not.toContain('expect');
    for (const key of [secret, older]) {
      const webhook = new Webhook(key.toString('base64'));
      expect(webhook.verify(came, headers as Record<string, string>)).toMatchObject({ id: body.eventId });
    }
  });

  test('has a timestamp, and measures itself', async () => {
    const receiver = await start(answerWith(204));
    const before = Date.now();
    const { durationMs } = await open().attempt(targetAt(new URL(receiver.url).port as never), body);
    expect(durationMs).toBeGreaterThanOrEqual(0);
    expect(durationMs).toBeLessThanOrEqual(Date.now() - before + 1);
    const timestamp = Number(receiver.received[0]?.headers['webhook-timestamp']);
    expect(timestamp).toBeGreaterThanOrEqual(Math.floor(before / 1_000));
    expect(timestamp).toBeLessThanOrEqual(Math.floor(Date.now() / 1_000) + 1);
  });

  test('is signed, and judges the date of a Retry-After, by the clock that the claim tells of', async () => {
    const at = Date.UTC(2020, 6, 1, 10);
    const receiver = await start(answerWith(503, { 'Retry-After': new Date(at + 60_000).toUTCString() }));
    const time = { endsAt: Number.POSITIVE_INFINITY, aheadMs: at - performance.now() };
    const target = { url: receiver.url, signingSecrets: [signingKey] };
    const { retryAfterSeconds = Number.NaN } = await open().attempt(target, body, time);
    const tookSeconds = (performance.now() + time.aheadMs - at) / 1_000;
    const timestamp = Number(receiver.received[0]?.headers['webhook-timestamp']);
    expect(timestamp).toBeGreaterThanOrEqual(at / 1_000);
    expect(timestamp).toBeLessThanOrEqual(at / 1_000 + tookSeconds);
    expect(retryAfterSeconds).toBeLessThanOrEqual(60);
    expect(retryAfterSeconds).toBeGreaterThanOrEqual(60 - tookSeconds);
    const { headers } = receiver.received[0] as { headers: Record<string, string> };
    expect(headers['webhook-signature']).toBe(
      signaturesOf([signingKey], body.eventId, timestamp, Buffer.from(body.body)),
    );
  });

  test.each([
    [200, 'SUCCEEDED', ''],
    [202, 'SUCCEEDED', ''],
    [204, 'SUCCEEDED', ''],
    [299, 'SUCCEEDED', ''],
    [304, 'STATUS_REFUSED', 'The receiver answered 304 Not Modified.'],
    [400, 'STATUS_REFUSED', 'The receiver answered 400 Bad Request.'],
    [410, 'STATUS_REFUSED', 'The receiver answered 410 Gone.'],
    [500, 'STATUS_REFUSED', 'The receiver answered 500 Internal Server Error.'],
    [599, 'STATUS_REFUSED', 'The receiver answered 599.'],
  ])('answered %i is %s', async (status, outcome, message) => {
    const receiver = await start(answerWith(status));
    const report = await open().attempt({ url: receiver.url, signingSecrets: [signingKey] }, body);
    expect(report).toMatchObject({ outcome, message, httpStatus: status });
  });

  test.each([300, 301, 302, 303, 307, 308])('does not follow a redirect by %i', async (status) => {
    const elsewhere = await start(answerWith(204));
    const receiver = await start(answerWith(status, { Location: elsewhere.url }));
    const report = await open().attempt({ url: receiver.url, signingSecrets: [signingKey] }, body);
    expect(report).toMatchObject({ outcome: 'STATUS_REFUSED', httpStatus: status });
    expect(report.message).toMatch(
      /redirects are not followed \(this one leads to http:\/\/127\.0\.0\.1:\d+\/hook\)\.$/,
    );
    expect(elsewhere.received).toEqual([]);
  });

  test.each([
    [429, '120', 120],
    [503, '7', 7],
    [503, 'soon', undefined],
    [500, '120', undefined],
    [200, '120', undefined],
  ])('answered %i with Retry-After %p asks for a wait of %p', async (status, value, seconds) => {
    const receiver = await start(answerWith(status, { 'Retry-After': value }));
    const report = await open().attempt({ url: receiver.url, signingSecrets: [signingKey] }, body);
    expect(report.retryAfterSeconds).toBe(seconds);
  });

  test('keeps a compressed answer unchanged and packed', async () => {
    const receiver = await raw.start((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x8bno',
        'latin1',
      ),
    );
    const report = await open().attempt(targetAt(receiver.port), body);
    expect(report.responseStart.toString('latin1')).toBe('\x1f\x8bno');
  });

  test('that has nothing to sign with, or no web address, is never sent', async () => {
    const receiver = await start();
    const unsigned = await open().attempt({ url: receiver.url, signingSecrets: [] }, body);
    expect(unsigned).toMatchObject({ outcome: 'INTERRUPTED', message: expect.stringContaining('no secret') });
    const nowhere = await open().attempt({ url: 'file:///etc/passwd', signingSecrets: [signingKey] }, body);
    expect(nowhere.outcome).toBe('ADDRESS_REFUSED');
    expect(receiver.received).toEqual([]);
  });
});

describe('an attempt that is cut off', () => {
  test('by the end of the sender ends at once as interrupted, as later ones do', async () => {
    const sender = open();
    const receiver = await raw.start(() => sender.close());
    const report = await sender.attempt(targetAt(receiver.port), body);
    expect(report).toMatchObject({ outcome: 'INTERRUPTED', httpStatus: undefined });
    const late = await sender.attempt(targetAt(receiver.port), body);
    expect(late).toMatchObject({
      outcome: 'INTERRUPTED',
      message: expect.stringContaining('Nothing was sent'),
    });
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('an attempt whose lease ends before the time limit of the worker', () => {
  beforeEach(fakeTimeouts);
  afterEach(() => void jest.useRealTimers());

  /** The outcome of an unanswered attempt some time after it began; undefined while it still runs. */
  async function endAfter(ms: number, leaseMs: number): Promise<unknown> {
    const receiver = await raw.start(() => undefined);
    const time = { endsAt: performance.now() + leaseMs, aheadMs: 0 };
    const attempt = open({ timeoutMs: 60_000 }).attempt(targetAt(receiver.port), body, time);
    await eventually('the request', () => receiver.requests.length === 1);
    jest.advanceTimersByTime(ms);
    return Promise.race([attempt, turns(10)]);
  }

  test('ends a second before its lease, so that the domain learns of the receiver', async () => {
    expect(await endAfter(29_000, 30_000)).toMatchObject({
      outcome: 'TIMED_OUT',
      message: expect.stringMatching(/accepted the connection but did not answer within (29|28\.\d+) s\.$/),
    });
  });

  test('blames no receiver for a claim that was answered late', async () => {
    expect(await endAfter(9_000, 10_000)).toBeUndefined();
  });
});

describe('the metrics of attempts', () => {
  test('is each beginning, and each end with its type, outcome and time', async () => {
    const seen: unknown[] = [];
    const metrics = {
      begun: () => seen.push('begun'),
      ended: (...end: unknown[]) => seen.push(end),
    };
    const receiver = await start(answerWith(500));
    await open({ metrics }).attempt({ url: receiver.url, signingSecrets: [signingKey] }, body);
    expect(seen).toEqual(['begun', ['user.updated', 'STATUS_REFUSED', expect.any(Number)]]);
  });
});
