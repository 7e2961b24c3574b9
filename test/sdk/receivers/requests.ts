import { createSecretKey, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { signaturesOf } from '../../../src/delivery/sender.js';
import { example, oldSecret, secret } from '../drivers/signed-requests.js';

export interface Delivery {
  body: string;
  headers: Record<string, string>;
}

export interface Answer {
  status: number;
  text: string;
}

/** What receivers in these tests believe: the new secret and the one that it replaces. */
export const SECRETS = `${secret},${oldSecret}`;

const keyOf = (whsec: string) => createSecretKey(whsec.slice('whsec_'.length), 'base64');

/** A request as the service signs and sends it. */
export function delivery({
  id = `evt_${randomUUID()}`,
  type = example.payload.type,
  secrets = [secret],
  ageSeconds = 0,
  paddingBytes = 0,
  isTest = false,
} = {}): Delivery {
  // Spaced as no serializer would: only the bytes themselves have this signature.
  const padding = paddingBytes > 0 ? { padding: '.'.repeat(paddingBytes) } : {};
  const body = JSON.stringify(
    { ...example.payload, id, type, ...(isTest && { test: true }), ...padding },
    null,
    1,
  );
  const timestamp = Math.floor(Date.now() / 1000) - ageSeconds;
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signaturesOf(secrets.map(keyOf), id, timestamp, Buffer.from(body)),
  };
  return { body, headers };
}

export async function post(url: string, { body, headers }: Delivery): Promise<Answer> {
  const answer = await fetch(url, { method: 'POST', headers, body });
  return { status: answer.status, text: await answer.text() };
}

/** A whole body that does not say its length. */
export async function postInChunks(url: string, { body, headers }: Delivery): Promise<Answer> {
  const sent = request(url, { method: 'POST', headers: { ...headers, 'transfer-encoding': 'chunked' } });
  sent.end(body);
  return answerTo(sent);
}

/** Longer than a receiver takes to refuse a length; the others wait for the body. */
const REFUSED_WITHIN_MS = 1_000;
/** The same on a busy machine. */
const REFUSED_LATE_MS = 30_000;
/** Errors of a client that still sends when the receiver has refused and closed. */
const CLOSED = new Set(['EPIPE', 'ECONNRESET']);

/**
 * Sends so many bytes of a body that does not end, with or without a length, and waits for the answer. After
 * a length it sends them only if the receiver waits for them: one that refuses the length closes the
 * connection, and a client that still sends may notice this before the answer.
 */
export async function postLarge(url: string, bytes: number, saysLength: boolean): Promise<Answer> {
  return postLargeAfter(REFUSED_WITHIN_MS, url, bytes, saysLength).catch((error: NodeJS.ErrnoException) => {
    if (!saysLength || !CLOSED.has(error.code ?? '')) {
      throw error;
    }
    return postLargeAfter(REFUSED_LATE_MS, url, bytes, saysLength);
  });
}

async function postLargeAfter(
  waitMs: number,
  url: string,
  bytes: number,
  saysLength: boolean,
): Promise<Answer> {
  const length = saysLength ? { 'content-length': 2 * bytes } : { 'transfer-encoding': 'chunked' };
  const sent = request(url, { method: 'POST', headers: { ...delivery().headers, ...length } });
  const answer = answerTo(sent);
  try {
    sent.write(' ');
    const early = saysLength && (await Promise.race([answer, sleep(waitMs, undefined)]));
    if (early) {
      return early;
    }
    sent.write(Buffer.alloc(bytes, ' '));
    return await answer;
  } finally {
    sent.destroy();
  }
}

async function answerTo(sent: ClientRequest): Promise<Answer> {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await text(answer) };
}
