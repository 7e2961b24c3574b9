import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { fakeTimeouts } from '../support/fake-timeouts.js';
import { turns } from '../support/turns.js';
import {
  answering,
  lastly,
  noContent,
  type RawAnswer,
  type RawReceiver,
  rawReceivers,
} from './raw-receivers.js';
import { body, senders, targetAt } from './senders.js';

const open = senders();
const raw = rawReceivers();

const OK = 'HTTP/1.1 200 OK\r\n';
const KIB = 1_024;

/** More than the head of an answer. */
const BEGINNING_BYTES = 60;

/** Writes as fast as it is read, until it is cut off. */
function repeating(start: string, piece: string): RawAnswer {
  return (socket) => {
    const goOn = () => {
      while (!socket.destroyed && socket.write(piece)) {}
    };
    socket.on('drain', goOn).write(start || piece);
    goOn();
  };
}

/** Writes the piece again and again, until it is cut off. */
function dripping(piece: string, start = ''): RawAnswer {
  return (socket) => {
    socket.write(start);
    const drip = setInterval(() => socket.write(piece), 20);
    socket.once('close', () => clearInterval(drip));
  };
}

/** What the receiver does, how the attempt ends, and what a person reads. */
const answers: [string, RawAnswer, string, RegExp][] = [
  [
    'closes at once',
    (socket) => socket.end(),
    'CONNECTION_FAILED',
    /closed the connection before its answer/,
  ],
  ['resets', (socket) => socket.resetAndDestroy(), 'CONNECTION_FAILED', /reset the connection/],
  ['answers in HTTP/0.9', lastly('<html>hello</html>'), 'PROTOCOL_ERROR', /not valid HTTP/],
  ['speaks SMTP', answering('220 mail.example.com ESMTP\r\n'), 'PROTOCOL_ERROR', /not valid HTTP/],
  [
    'answers with a status that is none',
    answering('HTTP/1.1 099 No Status\r\ncontent-length: 0\r\n\r\n'),
    'PROTOCOL_ERROR',
    /not valid HTTP: it cannot be parsed/,
  ],
  [
    'sends chunks that are none',
    answering(`${OK}transfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n`),
    'PROTOCOL_ERROR',
    /not valid HTTP/,
  ],
  [
    'contradicts itself about the length',
    answering(`${OK}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n`),
    'PROTOCOL_ERROR',
    /not as long as its Content-Length/,
  ],
  [
    'has endless headers',
    (socket) => socket.write(`${OK}x: ${'x'.repeat(40 * KIB)}\r\n\r\n`),
    'PROTOCOL_ERROR',
    /headers of the answer are too large/,
  ],
  [
    'switches protocols',
    answering('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
    'PROTOCOL_ERROR',
    /switches to another protocol/,
  ],
  ['says Continue', answering('HTTP/1.1 100 Continue\r\n\r\n'), 'PROTOCOL_ERROR', /100 Continue/],
  [
    'breaks off in its answer',
    lastly(`${OK}content-length: 100\r\n\r\nhalf`),
    'CONNECTION_FAILED',
    /before its answer was complete/,
  ],
  [
    'gives early hints first',
    answering(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}content-length: 0\r\n\r\n`),
    'SUCCEEDED',
    /^$/,
  ],
  [
    'gives early hints without end',
    repeating('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
    'PROTOCOL_ERROR',
    /not complete after 128 KiB/,
  ],
  [
    'writes about its chunks without end',
    repeating(`${OK}transfer-encoding: chunked\r\n\r\n1;x=`, 'x'.repeat(KIB)),
    'PROTOCOL_ERROR',
    /not complete after 128 KiB/,
  ],
  ['answers in HTTP/1.0', lastly('HTTP/1.0 200 OK\r\n\r\nfine'), 'SUCCEEDED', /^$/],
  [
    'announces a body with 204',
    answering('HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nok'),
    'SUCCEEDED',
    /^$/,
  ],
  [
    'announces a body with 204 and ends',
    lastly('HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n'),
    'SUCCEEDED',
    /^$/,
  ],
  ['answers with a body after 204', answering('HTTP/1.1 204 No Content\r\n\r\nsurprise'), 'SUCCEEDED', /^$/],
  [
    'answers a second time',
    answering(`${OK}content-length: 0\r\n\r\n${OK}content-length: 0\r\n\r\n`),
    'SUCCEEDED',
    /^$/,
  ],
  [
    'resets after its answer',
    (socket) => socket.write(`${OK}content-length: 0\r\n\r\n`, () => socket.resetAndDestroy()),
    'SUCCEEDED',
    /^$/,
  ],
];

describe('a receiver that', () => {
  test.each(answers)('%s', async (_, answer, outcome, message) => {
    const receiver = await raw.start(answer);
    const report = await open().attempt(targetAt(receiver.port), body);
    expect(report.outcome).toBe(outcome);
    expect(report.message).toMatch(message);
    // Whatever it did, it was asked once.
    expect(receiver.requests).toHaveLength(1);
  });

  test('answers before it has the whole body is believed', async () => {
    const receiver = await raw.start(noContent);
    receiver.server.on('connection', (socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 413 Too Much\r\n\r\n')),
    );
    const long = { ...body, body: Buffer.alloc(4 * KIB * KIB, 'x') };
    const { httpStatus, outcome } = await open().attempt(targetAt(receiver.port), long);
    expect([`STATUS_REFUSED 413`, 'CONNECTION_FAILED undefined']).toContain(`${outcome} ${httpStatus}`);
  });

  test.each([
    ['200 OK', 'SUCCEEDED', KIB],
    ['500 Internal Server Error', 'STATUS_REFUSED', 16 * KIB],
  ])(
    'pours out an endless answer of %s is cut off, and its status decides',
    async (status, outcome, kept) => {
      const receiver = await raw.start((socket) => {
        socket.write(`HTTP/1.1 ${status}\r\n\r\n`);
        const pour = () => {
          while (!socket.destroyed && socket.write('x'.repeat(64 * KIB))) {
            // Until the other side is full.
          }
        };
        socket.on('drain', pour);
        pour();
      });
      const report = await open().attempt(targetAt(receiver.port), body);
      expect(report).toMatchObject({ outcome, httpStatus: Number(status.slice(0, 3)) });
      expect(report.responseStart).toHaveLength(kept);
    },
  );

  test('answers as much as is read, and no more, keeps its connection', async () => {
    const text = 'x'.repeat(16 * KIB);
    const head = `${OK}keep-alive: timeout=60\r\ncontent-length: ${text.length}\r\n\r\n`;
    const receiver = await raw.start(answering(`${head}${text}`));
    const sender = open();
    for (const _ of [1, 2]) {
      const { responseStart } = await sender.attempt(targetAt(receiver.port), body);
      expect(responseStart.toString()).toBe(text.slice(0, KIB));
      await new Promise(setImmediate);
    }
    expect(receiver.connections).toBe(1);
  });
});

describe('a receiver that takes its time', () => {
  const timeoutMs = 3_000;
  // On a busy machine, time could be over before an answer has begun.
  beforeEach(fakeTimeouts);
  afterEach(() => {
    jest.useRealTimers();
  });

  const SOCKETS = 'net.client.socket';
  const dialled: Socket[] = [];
  const note = (message: unknown) => dialled.push((message as { socket: Socket }).socket);
  beforeEach(() => subscribe(SOCKETS, note));
  afterEach(() => {
    unsubscribe(SOCKETS, note);
    dialled.length = 0;
  });
  const hasBegun = ({ port }: RawReceiver) =>
    dialled.some(({ remotePort, bytesRead }) => remotePort === port && bytesRead > BEGINNING_BYTES);

  /** What it does, with the status and the message of the attempt. */
  const ways: [RawAnswer, number | undefined, RegExp][] = [
    [() => undefined, undefined, /accepted the connection but did not answer within 3 s\.$/],
    [
      dripping('x', `${OK}content-length: 1000\r\n\r\n`),
      200,
      /^The answer \(200 OK\) began but was not complete within 3 s\.$/,
    ],
    [dripping('HTTP/1.1 103 Early Hints\r\n\r\n'), undefined, /did not answer within/],
  ];

  test('never answers, answers a byte at a time or hints without end is cut off, whatever its status', async () => {
    const sender = open({ timeoutMs });
    const receivers = await Promise.all(ways.map(([answer]) => raw.start(answer)));
    let ended = 0;
    const attempts = receivers.map(({ port }) =>
      sender.attempt(targetAt(port), body).finally(() => {
        ended += 1;
      }),
    );
    await eventually('the request to the silent one', () => receivers[0]?.requests.length === 1);
    await eventually('the beginnings of answers', () => receivers.slice(1).every(hasBegun));
    // What the sockets have read is parsed a little later.
    await turns(10);
    // Half of it: the real time until the timer was set counts too.
    jest.advanceTimersByTime(timeoutMs / 2);
    await new Promise(setImmediate);
    expect(ended).toBe(0);
    jest.advanceTimersByTime(timeoutMs / 2);
    const reports = await Promise.all(attempts);
    for (const [index, [, httpStatus, message]] of ways.entries()) {
      expect(reports[index]).toMatchObject({ outcome: 'TIMED_OUT', httpStatus });
      expect(reports[index]?.message).toMatch(message);
    }
  });

  test('for which time ends while the process stalls is believed, if its answer had come', async () => {
    const receiver = await raw.start((socket) =>
      setImmediate(() => {
        noContent(socket, 1);
        // The answer is in the socket, and not read yet.
        jest.advanceTimersByTime(timeoutMs);
      }),
    );
    const report = await open({ timeoutMs }).attempt(targetAt(receiver.port), body);
    expect(report).toMatchObject({ outcome: 'SUCCEEDED', httpStatus: 204 });
  });

  test('does not delay others, and its connection is closed', async () => {
    const slow = await raw.start(() => undefined);
    const quick = await raw.start(noContent);
    const sender = open({ timeoutMs });
    const hanging = Array.from({ length: 64 }, () => sender.attempt(targetAt(slow.port), body));
    const first = await Promise.race([sender.attempt(targetAt(quick.port), body), ...hanging]);
    expect(first.outcome).toBe('SUCCEEDED');
    jest.advanceTimersByTime(timeoutMs);
    expect(new Set((await Promise.all(hanging)).map((report) => report.outcome))).toEqual(
      new Set(['TIMED_OUT']),
    );
    await eventually('the slow one is let go', () => slow.sockets.size === 0);
  });
});
