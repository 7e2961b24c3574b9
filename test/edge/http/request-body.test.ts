import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BodyRefusal, type Dispatch } from '../../../src/edge/http/exchange.js';
import { closeListener, createListener, listen } from '../../../src/edge/http/listener.js';
import { eventually } from '../../support/eventually.js';
import { exchange, rawExchange } from '../../support/http-exchange.js';
import { type RecordedLog, recordedLog } from '../../support/recorded-log.js';

const LIMIT = 64 * 1_024;
const HEAD = 'POST / HTTP/1.1\r\nhost: x\r\n';

let server: Server;
let port: number;
let recorded: RecordedLog;
let reads: boolean;
let bodies: Buffer[];
let onAsked: () => void | Promise<void>;

beforeEach(async () => {
  recorded = recordedLog();
  reads = true;
  bodies = [];
  onAsked = () => undefined;
  const dispatch: Dispatch = async ({ readBody }) => {
    await onAsked();
    try {
      if (reads) {
        bodies.push(await readBody(), await readBody());
      }
      return { status: 200, headers: {}, body: 'fine', operation: 'op' };
    } catch (error) {
      if (error instanceof BodyRefusal) {
        return { status: error.status, headers: {}, body: error.message, operation: 'op' };
      }
      throw error;
    }
  };
  server = createListener({
    api: 'test',
    dispatch,
    trustedProxies: [],
    log: recorded.log,
    timer: () => undefined,
  });
  await listen(server, 0, '127.0.0.1');
  port = (server.address() as AddressInfo).port;
});

afterEach(() => closeListener(server, 0));

const post = (body: Buffer, headers: Record<string, string> = {}) =>
  exchange(port, '/', { method: 'POST', body, headers });
const chunk = (size: number) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`;
const held = () => new Promise<void>(() => undefined);

describe('a body', () => {
  test.each([0, 1, LIMIT])('of %i bytes is read once, however often it is asked for', async (size) => {
    const body = Buffer.alloc(size, 'ü');
    expect((await post(body)).status).toBe(200);
    expect((await post(body, { 'transfer-encoding': 'chunked' })).status).toBe(200);
    expect(bodies.map((read) => read.equals(body))).toEqual([true, true, true, true]);
  });

  test('that is read leaves the connection to the next request', async () => {
    const first = `${HEAD}content-length: 5\r\n\r\nhello`;
    const answer = await rawExchange(port, `${first}${HEAD}content-length: 2\r\nconnection: close\r\n\r\nyo`);
    expect(answer.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
    expect(bodies.map(String)).toEqual(['hello', 'hello', 'yo', 'yo']);
  });
});

describe('a body beyond the limit', () => {
  test.each([
    ['that says so', {}],
    ['that comes in chunks', { 'transfer-encoding': 'chunked' }],
  ])('%s is refused, and its sender gets to read it', async (_, headers) => {
    const answer = await post(Buffer.alloc(LIMIT + 1, 'x'), headers);
    expect(answer).toMatchObject({
      status: 413,
      body: 'The body is too large.',
      headers: { connection: 'close' },
    });
    expect((await post(Buffer.from('next'))).status).toBe(200);
  });

  test('is refused by its announcement, before any of it came', async () => {
    const answer = await rawExchange(port, `${HEAD}content-length: ${LIMIT + 1}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*The body is too large\.$/);
  });

  test('is not waited for where no operation reads it, and ends the connection', async () => {
    reads = false;
    const answer = await rawExchange(port, `${HEAD}content-length: ${LIMIT + 1}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close/i);
  });

  test.each<[string, () => void, RegExp]>([
    ['read', () => undefined, /^HTTP\/1\.1 413 /],
    [
      'answered without being read',
      () => {
        reads = false;
      },
      /^HTTP\/1\.1 200 /,
    ],
    [
      'not yet answered',
      () => {
        onAsked = held;
      },
      /^$/,
    ],
  ])('that never ends is cut, and little of it is taken, where it is %s', async (_, arrange, expected) => {
    arrange();
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    let sent = 0;
    const pump = () => {
      while (socket.writable && socket.write(chunk(16_384))) {
        sent += 16_384;
      }
    };
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    socket.on('drain', pump).on('error', () => undefined);
    socket.write(CHUNKED);
    await new Promise((resolve) => socket.once('connect', pump).once('close', resolve));
    expect(answer).toMatch(expected);
    // Includes what the buffers at both ends hold beyond what the server read.
    expect(sent).toBeLessThan(32 * 1_024 * 1_024);
  });
});

test.each<[string, string, () => void]>([
  ['that is read', '', () => undefined],
  [
    'of a request that is not yet answered',
    '',
    () => {
      onAsked = held;
    },
  ],
  [
    'behind the last request of its connection',
    `GET / HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n`,
    () => {
      onAsked = held;
    },
  ],
])('a body in chunks of one byte takes little memory: one %s', async (_, before, arrange) => {
  arrange();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const usedBytes = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const accepted: Socket[] = [];
  server.on('connection', (socket) => accepted.push(socket));
  // Its last chunk does not come.
  const sent = Buffer.from(`${before}${CHUNKED}${chunk(1).repeat(60_000)}`);
  const usedBefore = usedBytes();
  const sockets = Array.from({ length: 5 }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets) {
    socket.on('error', () => undefined).write(sent);
  }
  const received = () => accepted.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  await eventually('that all of it is received', () => received() === sockets.length * sent.length);
  const grownBytes = usedBytes() - usedBefore;
  for (const socket of sockets) {
    socket.destroy();
  }
  // As separate chunks, they would take ten megabytes each.
  expect(grownBytes / sockets.length).toBeLessThan(1_024 * 1_024);
});

describe('a client that asks first whether it may send', () => {
  const asking = `${HEAD}expect: 100-continue\r\nconnection: close\r\n`;

  test('is told to, once the body is wanted', async () => {
    const answer = await rawExchange(port, `${asking}content-length: 5\r\n\r\nhello`);
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    expect(String(bodies[0])).toBe('hello');
  });

  test('is not told to when it is too much', async () => {
    const answer = await rawExchange(port, `${asking}content-length: ${LIMIT + 1}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('is not told to where none is wanted, and the connection ends', async () => {
    reads = false;
    const keeping = `${HEAD}expect: 100-continue\r\ncontent-length: 5\r\n\r\n`;
    const answer = await rawExchange(port, keeping);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toMatch(/connection: close/i);
  });
});

test('a client that disconnects within its body is one quiet line, and harms no others', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined).write(`${HEAD}content-length: 9\r\n\r\nhalf`);
  await new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  socket.resetAndDestroy();
  const line = await recorded.nextLine(({ msg }) => msg === 'request');
  expect(line).toMatchObject({ level: 'info', status: 499, code: 'client_left' });
  expect(recorded.lines().filter(({ level }) => level === 'error')).toEqual([]);
  expect((await post(Buffer.from('next'))).status).toBe(200);
});
