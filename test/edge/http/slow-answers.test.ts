import { EventEmitter, once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { BodyStream } from '../../../src/edge/http/exchange.js';
import { closeListener, createListener, listen } from '../../../src/edge/http/listener.js';
import { fakeTimeouts } from '../../support/fake-timeouts.js';
import { type RecordedLog, recordedLog } from '../../support/recorded-log.js';

const PATIENCE_MS = 60_000;
/** More than Node takes before it waits for the reader. */
const PIECE = Buffer.alloc(64 * 1_024, 'x');

let server: Server;
let reader: Socket;
let recorded: RecordedLog;
let timed: unknown[][];
/** Emits the next piece of the answer at `/small`. */
let small: EventEmitter;
const answer = { pieces: 0, isOver: false };

beforeEach(async () => {
  fakeTimeouts();
  Object.assign(answer, { pieces: 0, isOver: false });
  small = new EventEmitter();
  recorded = recordedLog();
  timed = [];
  server = createListener({
    api: 'test',
    dispatch: async ({ path }) => ({
      ...{ status: 200, headers: {}, operation: 'op' },
      body: path === '/small' ? endlessText(smallPiece) : endlessText(async () => PIECE),
    }),
    trustedProxies: [],
    log: recorded.log,
    timer: (...what) => timed.push(what),
    pieceTimeoutMs: PATIENCE_MS,
  });
  await listen(server, 0, '127.0.0.1');
  reader = await ask('/');
  reader.pause();
});

async function ask(path: string): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  return socket;
}

afterEach(async () => {
  jest.useRealTimers();
  reader.destroy();
  await closeListener(server, 0);
});

async function smallPiece(): Promise<Buffer> {
  const [text] = await once(small, 'piece');
  return Buffer.from(text as string);
}

function endlessText(make: () => Promise<Buffer>): BodyStream {
  return {
    next: async () => {
      answer.pieces += 1;
      return { done: false, value: await make() };
    },
    return: async () => {
      answer.isOver = true;
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function pass(ms: number): Promise<void> {
  jest.advanceTimersByTime(ms);
  await turn();
}

test('an answer of which its reader takes too little for too long is cut', async () => {
  while (!answer.isOver) {
    reader.read(1);
    await pass(PATIENCE_MS / 4);
  }
  expect(answer.pieces).toBeGreaterThan(0);
});

test('one of which its reader takes piece after piece continues, however long it takes', async () => {
  for (let pause = 0; pause < 10; pause += 1) {
    // The first may have been asked for before the one before it was taken.
    for (const enough = answer.pieces + 2; answer.pieces < enough; await turn()) {
      reader.read();
    }
    await pass(0.9 * PATIENCE_MS);
    expect(answer.isOver).toBe(false);
  }
});

test('so does one of small pieces, which come slowly and never fill a buffer', async () => {
  const second = await ask('/small');
  for (let count = 0; count < 5; count += 1) {
    const text = `piece ${count}`;
    while (small.listenerCount('piece') === 0) {
      await turn();
    }
    small.emit('piece', text);
    for (let received = ''; !received.includes(text); await turn()) {
      received += second.read() ?? '';
    }
    await pass(0.9 * PATIENCE_MS);
  }
  expect(second.destroyed).toBe(false);
  second.destroy();
});

test('the metric has the time until the answer began, and the log also that of its reader', async () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const second = await ask('/small');
  while (small.listenerCount('piece') === 0) {
    await turn();
  }
  clock.mockReturnValue(30_000);
  second.destroy();
  const line = await recorded.nextLine(({ msg }) => msg === 'request');
  expect([line.status, line.durationMs]).toEqual([200, 30_000]);
  // Answers of the tests before may end only now.
  expect(timed).toContainEqual(['op', 200, 0, 'test']);
  clock.mockRestore();
});
