import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { BodyStream } from '../../../src/edge/http/exchange.js';
import { closeListener, createListener, listen } from '../../../src/edge/http/listener.js';
import { recordedLog } from '../../support/recorded-log.js';

const PATIENCE_MS = 60_000;
/** More than Node takes before it waits for the reader. */
const PIECE = Buffer.alloc(64 * 1_024, 'x');
const OTHER_TIMERS = [
  'setImmediate',
  'nextTick',
  'queueMicrotask',
  'performance',
  'Date',
  'setInterval',
] as const;

let server: Server;
let reader: Socket;
const answer = { pieces: 0, isOver: false };

beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: [...OTHER_TIMERS] });
  Object.assign(answer, { pieces: 0, isOver: false });
  server = createListener({
    api: 'test',
    dispatch: async () => ({ status: 200, headers: {}, operation: 'op', body: endlessText() }),
    trustedProxies: [],
    log: recordedLog().log,
    timer: () => undefined,
    pieceTimeoutMs: PATIENCE_MS,
  });
  await listen(server, 0, '127.0.0.1');
  reader = connect((server.address() as AddressInfo).port, '127.0.0.1');
  reader.on('error', () => undefined);
  await once(reader, 'connect');
  reader.pause();
  reader.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
});

afterEach(async () => {
  jest.useRealTimers();
  reader.destroy();
  await closeListener(server, 0);
});

function endlessText(): BodyStream {
  return {
    next: async () => {
      answer.pieces += 1;
      return { done: false, value: PIECE };
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
