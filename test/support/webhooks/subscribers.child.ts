/** Many receivers in one process that is never killed. Each records requests before it answers. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '../loopback.js';
import { faultsOfWebhook } from './event-judge.js';
import type { Behaviour, GivenAnswer, Order, Report, WrittenRequest } from './subscribers.js';

const [, , recordsFile = '', count = '0'] = process.argv;
const LINES_PER_WRITE = 500;

interface Subscriber {
  key: Buffer;
  behaviour: Behaviour;
  /** By event, how often it came. */
  seen: Map<string, number>;
  accepted: number;
}

const subscribers: Subscriber[] = [];
const lines: string[] = [];
let firsts = 0;
let hold: Extract<Order, { type: 'hold' }> | undefined;
let held: (() => void) | undefined;
let isReportDue = false;

function report(message: Report): void {
  process.send?.(message);
}

/** Once a turn at most, however much comes in. */
function reportProgress(): void {
  if (!isReportDue) {
    isReportDue = true;
    setImmediate(() => {
      isReportDue = false;
      report({ type: 'progress', firsts });
    });
  }
}

function isGenuine({ key }: Subscriber, headers: IncomingHttpHeaders, body: Buffer): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  const given = Buffer.from(String(signature).replace(/^v1,/, ''), 'base64');
  const isFresh = Math.abs(Date.now() / 1_000 - Number(timestamp)) < 300;
  return isFresh && given.length === expected.length && timingSafeEqual(given, expected);
}

/** Two numbers from 0 to 999 that an event has for ever. */
function fatesOf(eventId: string): { failures: number; lateness: number } {
  const digest = createHash('sha256').update(eventId).digest();
  return { failures: digest.readUInt32BE(0) % 1_000, lateness: digest.readUInt32BE(4) % 1_000 };
}

/** Half of the events fail once, a quarter twice, and a quarter always. */
function failuresOf(fate: number): number {
  return fate < 500 ? 1 : fate < 750 ? 2 : Number.POSITIVE_INFINITY;
}

function answerOf(subscriber: Subscriber, eventId: string, earlier: number): GivenAnswer {
  const { behaviour } = subscriber;
  const fates = fatesOf(eventId);
  const fails = earlier < failuresOf(fates.failures);
  switch (behaviour.kind) {
    case 'refuses':
      return fails ? 500 : 204;
    case 'fails':
      if (!fails) {
        return 204;
      }
      return fates.lateness < behaviour.latePerThousand ? 'too late' : 'hung up';
    case 'goes away':
      return subscriber.accepted >= behaviour.afterEvents ? 410 : 204;
    default:
      return 204;
  }
}

function give(answer: GivenAnswer, { behaviour }: Subscriber, response: ServerResponse): void {
  if (answer === 'hung up') {
    response.destroy();
  } else if (typeof answer === 'number') {
    const afterMs = behaviour.kind === 'is slow' ? behaviour.answersAfterMs : 0;
    const send = () => response.writeHead(answer).end();
    // Its slowness is what it is there for.
    afterMs > 0 ? setTimeout(send, afterMs) : send();
  }
  // What is too late is never sent: the sender gives up first.
}

function take(index: number, headers: IncomingHttpHeaders, body: Buffer, response: ServerResponse): void {
  const subscriber = subscribers[index] as Subscriber;
  const eventId = String(headers['webhook-id']);
  const earlier = subscriber.seen.get(eventId) ?? 0;
  const answer = answerOf(subscriber, eventId, earlier);
  subscriber.seen.set(eventId, earlier + 1);
  subscriber.accepted += answer === 204 ? 1 : 0;
  firsts += earlier === 0 ? 1 : 0;
  const isEvent = faultsOfWebhook(headers, body).length === 0;
  write({ index, eventId, isGenuine: isEvent && isGenuine(subscriber, headers, body), answer });
  reportProgress();
  const goOn = () => give(answer, subscriber, response);
  const isOfItsKind = hold && (hold.during === 'retry') === earlier > 0;
  if (hold && isOfItsKind && hold.lets > 0) {
    hold.lets -= 1;
    goOn();
  } else if (isOfItsKind) {
    report({ type: 'held' });
    hold = undefined;
    held = goOn;
  } else {
    goOn();
  }
}

function write(request: WrittenRequest): void {
  lines.push(JSON.stringify(request));
  if (lines.length >= LINES_PER_WRITE) {
    writeAll();
  }
}

function writeAll(): void {
  appendFileSync(
    recordsFile,
    lines
      .splice(0)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

function listen(index: number): Promise<number> {
  subscribers[index] = {
    key: Buffer.alloc(0),
    behaviour: { kind: 'accepts' },
    seen: new Map(),
    accepted: 0,
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => take(index, request.headers, Buffer.concat(chunks), response));
    // The sender may die, which is what this is all about.
    request.on('error', () => undefined);
  });
  // Who reuses a connection shall not meet its end; where that happens is another test's matter.
  server.keepAliveTimeout = 120_000;
  return listenOnLoopback(server);
}

process.on('message', (order: Order) => {
  if (order.type === 'subscribe') {
    const subscriber = subscribers[order.index] as Subscriber;
    subscriber.key = Buffer.from(order.secret.replace(/^whsec_/, ''), 'base64');
    subscriber.behaviour = order.behaviour;
  } else if (order.type === 'hold') {
    hold = order;
  } else if (order.type === 'let go') {
    hold = undefined;
    held?.();
    held = undefined;
  } else {
    writeAll();
    report({ type: 'written' });
  }
});
process.once('disconnect', () => process.exit());

const ports = await Promise.all(Array.from({ length: Number(count) }, (_, index) => listen(index)));
report({ type: 'listening', ports });
