import { createSecretKey, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
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
} = {}): Delivery {
  // Spaced as no serializer would: only the bytes themselves have this signature.
  const padding = paddingBytes > 0 ? { padding: '.'.repeat(paddingBytes) } : {};
  const body = JSON.stringify({ ...example.payload, id, type, ...padding }, null, 1);
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

const PIECE = Buffer.alloc(2 ** 16, ' ');

/**
 * Sends so many bytes of a body that does not end, with or without a length, and waits for the answer. In
 * pieces, and no more of them after the answer: a receiver that refuses the length closes the connection.
 */
export async function postLarge(url: string, bytes: number, saysLength: boolean): Promise<Answer> {
  const length = saysLength ? { 'content-length': 2 * bytes } : { 'transfer-encoding': 'chunked' };
  const sent = request(url, { method: 'POST', headers: { ...delivery().headers, ...length } });
  let isAnswered = false;
  const answer = answerTo(sent).finally(() => {
    isAnswered = true;
  });
  try {
    for (let left = bytes; left > 0 && !isAnswered; left -= PIECE.length) {
      sent.write(PIECE.subarray(0, left));
      await new Promise(setImmediate);
    }
    return await answer;
  } finally {
    sent.destroy();
  }
}

async function answerTo(sent: ClientRequest): Promise<Answer> {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await text(answer) };
}
