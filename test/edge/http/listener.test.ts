import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type Server, STATUS_CODES } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type BodyRefusal,
  type BodyStream,
  bodyStream,
  type Dispatch,
  type DispatchedAnswer,
  type HttpRequest,
} from '../../../src/edge/http/exchange.js';
import {
  closeListener,
  createListener,
  type ListenerOptions,
  listen,
} from '../../../src/edge/http/listener.js';
import { eventually } from '../../support/eventually.js';
import { exchange, rawExchange } from '../../support/http-exchange.js';
import { type RecordedLog, recordedLog } from '../../support/recorded-log.js';
import { signalled } from '../../support/signalled.js';

const OK: DispatchedAnswer = {
  status: 200,
  headers: { 'content-type': 'text/plain' },
  body: 'fine',
  operation: 'op',
};

/** Longer than a test may take. */
const LONG_MS = 600_000;
const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

let server: Server;
let port: number;
let recorded: RecordedLog;
let seen: HttpRequest[];
let timed: unknown[][];
let dispatch: Dispatch;

async function start(options: Partial<ListenerOptions> = {}) {
  server = createListener({
    api: 'test',
    dispatch: (request) => {
      seen.push(request);
      return dispatch(request);
    },
    explanations: '/codes',
    trustedProxies: [],
    log: recorded.log,
    timer: (...what) => timed.push(what),
    ...options,
  });
  await listen(server, 0, '127.0.0.1');
  port = (server.address() as AddressInfo).port;
}

beforeEach(async () => {
  recorded = recordedLog();
  seen = [];
  timed = [];
  dispatch = async () => OK;
  await start();
});

afterEach(() => closeListener(server, 0));

describe('the target of a request', () => {
  test.each([
    ['/a/b?x=1&x=2', '/a/b', 'x=1&x=2'],
    ['//a//b/', '//a//b/', ''],
    ['/a/../b/./c', '/a/../b/./c', ''],
    ['/a%2Fb%zz', '/a%2Fb%zz', ''],
    ['/a?b?c=d', '/a', 'b%3Fc=d'],
    ['/a?x=%zz', '/a', 'x=%25zz'],
    ['http://elsewhere.example.com/a?b=c', '/a', 'b=c'],
    ['HTTPS://user@elsewhere.example.com:99', '/', ''],
  ])('%s is passed on unchanged', async (target, path, query) => {
    await exchange(port, target);
    expect(seen).toMatchObject([{ path }]);
    expect(seen[0]?.query.toString()).toBe(query);
  });

  test('OPTIONS * is a request like any other', async () => {
    await exchange(port, '*', { method: 'OPTIONS' });
    expect(seen).toMatchObject([{ method: 'OPTIONS', path: '*' }]);
  });
});

describe('the request id', () => {
  test.each(['a', 'req-7d1f0c52', 'A.b_c-9', 'x'.repeat(128)])('%s is taken and returned', async (id) => {
    const { headers } = await exchange(port, '/', { headers: { 'x-request-id': id } });
    expect([headers['x-request-id'], seen[0]?.requestId]).toEqual([id, id]);
  });

  test.each(['', 'a b', 'x'.repeat(129), '{"a":1}', 'a,b'])(
    'in place of %j a new one is made',
    async (id) => {
      const { headers } = await exchange(port, '/', { headers: { 'x-request-id': id } });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    },
  );

  test('without one each request gets its own', async () => {
    const [one, other] = [await exchange(port, '/'), await exchange(port, '/')];
    expect(one.headers['x-request-id']).not.toBe(other.headers['x-request-id']);
  });
});

describe('a dispatch that goes wrong', () => {
  const faults: [string, Dispatch][] = [
    ['throws', () => Promise.reject(new Error('canary'))],
    [
      'answers with a header that has a line break',
      async () => ({ ...OK, headers: { etag: 'canary\r\nx: y' } }),
    ],
    ['answers with a header beyond Latin-1', async () => ({ ...OK, headers: { etag: '"canary🌿"' } })],
    ['answers with a status that is none', async () => ({ ...OK, status: 99 })],
  ];
  test.each(faults)('%s costs that request a 500, in one line, and no other anything', async (_, faulty) => {
    dispatch = faulty;
    const answer = await exchange(port, '/', { headers: { 'x-request-id': 'r-1' } });
    expect(answer).toMatchObject({ status: 500, body: '', headers: { 'x-request-id': 'r-1' } });
    expect(JSON.stringify(answer)).not.toContain('canary');
    expect(recorded.lines().filter(({ msg }) => msg === 'request')).toMatchObject([
      { level: 'error', requestId: 'r-1', status: 500 },
    ]);
    dispatch = async () => OK;
    expect((await exchange(port, '/')).status).toBe(200);
  });
});

test('what a dispatch refuses, whose faults have lines of their own, has its line as a warning', async () => {
  const facts = { code: 'unavailable', reason: 'Too many passwords.' };
  dispatch = async () => ({ ...OK, status: 503, facts, level: 'warn' });
  expect(await exchange(port, '/')).toMatchObject({ status: 503 });
  expect(recorded.lines()).toMatchObject([{ level: 'warn', msg: 'request', status: 503, ...facts }]);
  dispatch = async () => ({ ...OK, status: 503, headers: { etag: 'a\r\nb' }, level: 'warn' });
  expect(await exchange(port, '/')).toMatchObject({ status: 500 });
  expect(recorded.lines().at(-1)).toMatchObject({ level: 'error', msg: 'request', status: 500 });
});

describe('what is no request', () => {
  test.each([
    ['header fields beyond 16 KiB', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(17_000)}\r\n\r\n`, '431'],
    ['a target beyond 16 KiB', `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, '431'],
    ['a NUL in the target', 'GET /\0 HTTP/1.1\r\nhost: x\r\n\r\n', '400'],
    ['a space in the target', 'GET /a b HTTP/1.1\r\nhost: x\r\n\r\n', '400'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', '400'],
    ['two Hosts', 'GET / HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n', '400'],
    ['the same Host twice', 'GET / HTTP/1.0\r\nhost: x\r\nHost: x\r\n\r\n', '400'],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nhost: x\r\nexpect: 200-ok\r\n\r\n', '417'],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', '400'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      '400',
    ],
    [
      'chunks in HTTP/1.0',
      'POST / HTTP/1.0\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      '400',
    ],
    ['an unknown method', 'HELLO / HTTP/1.1\r\nhost: x\r\n\r\n', '400'],
    ['another protocol', '\x16\x03\x01\x02', '400'],
  ])(
    'is refused before any contract, with a problem, a line and a closed connection: %s',
    async (_, bytes, status) => {
      const answer = await rawExchange(port, bytes);
      const [, head = '', body = ''] = /^HTTP\/1\.1 (.*?)\r\n\r\n(.*)$/s.exec(answer) ?? [];
      expect(head).toMatch(new RegExp(`^${status} [A-Z][A-Za-z ]+\\r\\n`));
      expect(head).toMatch(/^connection: close$/im);
      expect(head).toMatch(/^content-type: application\/problem\+json\r?$/im);
      const requestId = /^x-request-id: (\S+)/im.exec(head)?.[1];
      expect(JSON.parse(body)).toEqual({
        type: '/codes#invalid_request',
        title: STATUS_CODES[status],
        status: Number(status),
        code: 'invalid_request',
        message: expect.stringMatching(/^The .+\.$/),
        requestId,
      });
      expect(seen).toEqual([]);
      expect(timed).toMatchObject([['none', Number(status), expect.any(Number), 'test']]);
      expect(recorded.lines()).toMatchObject([
        { msg: 'request', requestId, status: Number(status), code: 'unreadable', client: '127.0.0.1' },
      ]);
      expect((await exchange(port, '/')).status).toBe(200);
    },
  );

  test.each([
    ['two Hosts', 'GET / HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n'],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nhost: x\r\nexpect: 200-ok\r\n\r\n'],
    [
      'chunks in HTTP/1.0',
      'POST / HTTP/1.0\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('is the last of its connection, lest its end is a request to us alone: %s', async (_, bytes) => {
    const answer = await rawExchange(port, `${bytes}GET /next HTTP/1.1\r\nhost: x\r\n\r\n`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1);
    expect(seen).toEqual([]);
  });

  const late = Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });

  test('is refused with 408 when Node has waited for the rest of it in vain', async () => {
    const accepted = once(server, 'connection');
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\n'));
    const answer = once(socket, 'data');
    const [waiting] = await accepted;
    await eventually('that it has begun', () => waiting.bytesRead > 0);
    server.emit('clientError', late, waiting);
    expect(String(await answer)).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    socket.destroy();
  });

  test('is not answered, counted or logged on a connection on which nothing was sent', async () => {
    const accepted = once(server, 'connection');
    const socket = connect(port, '127.0.0.1');
    const [waiting] = await accepted;
    server.emit('clientError', late, waiting);
    const answer: Buffer[] = [];
    socket.on('data', (piece: Buffer) => answer.push(piece));
    await once(socket, 'close');
    expect([answer, timed, recorded.lines()]).toEqual([[], [], []]);
  });

  test('is answered once, however much of it follows', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    const received: Buffer[] = [];
    socket.on('data', (piece: Buffer) => received.push(piece));
    socket.write(`GET / HTTP/1.1\r\nx: ${'a'.repeat(17_000)}`);
    await once(socket, 'data');
    socket.write('a'.repeat(100_000));
    await once(socket, 'close');
    expect(String(Buffer.concat(received)).match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  test('does not end an answer that has begun', async () => {
    const { told: held, tell: finish } = signalled();
    async function* pieces() {
      yield Buffer.from('one');
      await held;
      yield Buffer.from('two');
    }
    dispatch = async () => ({ ...OK, body: pieces() as unknown as BodyStream });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    let received = '';
    socket.on('data', (piece: Buffer) => {
      received += piece;
    });
    await once(socket, 'data');
    const met = once(server, 'clientError');
    socket.write('HELLO\r\n\r\n');
    await met;
    finish();
    await once(socket, 'close');
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(received).toContain('one\r\n3\r\ntwo\r\n');
  });

  test('waits for the answers to the requests before it', async () => {
    dispatch = async ({ path }) => {
      await Promise.resolve();
      return { ...OK, body: path };
    };
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
    const answers = await rawExchange(port, `${get('/one')}${get('/two')}BAD\r\n\r\n`);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(answers.match(/^\/(one|two)/gm)).toEqual(['/one', '/two']);
  });

  test('in a body that is still on its way after its answer closes the connection', async () => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (piece: Buffer) => {
      received += piece;
    });
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n');
    await once(socket, 'data');
    socket.write('ZZ\r\n');
    await once(socket, 'close');
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });

  test('is logged at most sixty times a minute, with the number of omitted lines', async () => {
    for (let count = 0; count < 70; count += 1) {
      await rawExchange(port, 'BAD\r\n\r\n');
    }
    expect(recorded.lines()).toHaveLength(60);
  });

  test('is also what hides a second Host behind a thousand fields', async () => {
    const many = 'a:\r\n'.repeat(1_100);
    const answer = await rawExchange(port, `GET / HTTP/1.1\r\nhost: x\r\n${many}host: y\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('in the middle of a body is refused as the answer to it', async () => {
    dispatch = async ({ readBody }) => {
      await readBody();
      return OK;
    };
    const answer = await rawExchange(
      port,
      'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nZZ\r\n',
    );
    expect(answer.match(/HTTP\/1\.1 (\d+)/g)).toEqual(['HTTP/1.1 400']);
  });
});

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
  'a header named %s is a header like any other',
  async (name) => {
    const answer = await rawExchange(
      port,
      `GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${name}: x\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  },
);

test('an unread body is skipped, and the connection serves on', async () => {
  const post = `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhello`;
  const get = 'GET /next HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
  expect((await rawExchange(port, post + get)).match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
});

describe('requests that are sent before the answers to those before them', () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

  test('are answered in their order, sixteen of them', async () => {
    dispatch = async ({ path }) => ({ ...OK, body: path });
    const sent = Array.from({ length: 15 }, (_, index) => `/${index}`);
    const last = 'GET /last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    const answers = await rawExchange(port, sent.map(get).join('') + last);
    expect(answers.match(/^\/(\d+|last)/gm)).toEqual([...sent, '/last']);
  });

  test('close the connection where they are more, and those behind them never begin', async () => {
    dispatch = ({ path }) => (path === '/next' ? Promise.resolve(OK) : new Promise(() => undefined));
    expect(await rawExchange(port, get('/').repeat(1_500)).catch(() => '')).toBe('');
    await exchange(port, '/next');
    expect(seen.filter(({ path }) => path === '/').length).toBeLessThanOrEqual(16);
  });

  test('close the connection too where they are more behind the last one', async () => {
    const withoutHost = 'GET / HTTP/1.1\r\n\r\n';
    const sent = get('/first') + withoutHost + get('/behind').repeat(100);
    expect(await rawExchange(port, sent).catch(() => '')).toBe('');
    expect(seen).toMatchObject([{ path: '/first' }]);
  });
});

test('a network that has its share of the requests under way is told to come back, and others are answered', async () => {
  await closeListener(server, 0);
  let refusals = 0;
  const onRefused = () => {
    refusals += 1;
  };
  await start({ maxRequests: 2, trustedProxies: [{ address: '127.0.0.1', prefix: 32 }], onRefused });
  const from = (network: string) => ({ headers: { 'x-forwarded-for': network } });
  const [begun, released] = [signalled(), signalled()];
  dispatch = async ({ path }) => {
    if (path === '/held') {
      begun.tell();
      await released.told;
    }
    return OK;
  };
  const held = exchange(port, '/held', from('2001:db8::1'));
  await begun.told;
  const refused = await exchange(port, '/', from('2001:db8::2'));
  expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect(JSON.parse(refused.body)).toMatchObject({
    code: 'unavailable',
    message: 'The service has too many requests to answer. Try again in a second.',
    requestId: refused.headers['x-request-id'],
  });
  expect((await exchange(port, '/', from('2001:db8::2'))).status).toBe(503);
  const full = recorded.lines().filter(({ status }) => status === 503);
  expect(full.map(({ level, code, leftOut }) => [level, code, leftOut])).toEqual([['warn', 'busy', 0]]);
  expect(refusals).toBe(2);
  expect((await exchange(port, '/', from('192.0.2.1'))).status).toBe(200);
  released.tell();
  expect((await held).status).toBe(200);
  expect((await exchange(port, '/', from('2001:db8::2'))).status).toBe(200);
});

describe('where bodies that do not come hold all slots of several networks', () => {
  const from = (network: string) => ({ headers: { 'x-forwarded-for': network } });
  /** The answer, once the connection has ended, and what sends the body. */
  const post = async (network: string) => {
    const before = seen.length;
    const socket = connect(port, '127.0.0.1');
    const answer = new Promise<string>((resolve) => {
      let received = '';
      socket.on('data', (piece) => {
        received += piece;
      });
      socket.once('close', () => resolve(received));
    });
    const fields = `host: x\r\nx-forwarded-for: ${network}\r\nconnection: close\r\ncontent-length: 4`;
    socket.write(`POST /slow HTTP/1.1\r\n${fields}\r\n\r\n`);
    await eventually('that its body is awaited', () => seen.length > before);
    return { answer, send: () => socket.write('body') };
  };
  const postAll = async (...networks: string[]) => {
    const posted: Awaited<ReturnType<typeof post>>[] = [];
    for (const network of networks) {
      posted.push(await post(network));
    }
    return posted;
  };

  let refusals: number;

  beforeEach(async () => {
    await closeListener(server, 0);
    refusals = 0;
    const onRefused = () => {
      refusals += 1;
    };
    await start({ maxRequests: 8, trustedProxies: [{ address: '127.0.0.1', prefix: 32 }], onRefused });
    dispatch = async ({ path, readBody }) => {
      try {
        return path === '/slow' ? { ...OK, body: await readBody() } : OK;
      } catch (error) {
        return { ...OK, status: (error as BodyRefusal).status, body: (error as Error).message };
      }
    };
  });

  test('the one with most loses the oldest to a network that has none, and networks with one keep it', async () => {
    const [oldest, , , , , , one, other] = await postAll(
      ...Array(4).fill('192.0.2.1'),
      ...Array(2).fill('192.0.2.2'),
      ...['192.0.2.3', '192.0.2.4'],
    );
    expect((await exchange(port, '/', from('192.0.2.5'))).status).toBe(200);
    expect(await oldest?.answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*The body did not arrive in time\.$/);
    expect(refusals).toBe(1);
    for (const kept of [one, other]) {
      kept?.send();
      expect(await kept?.answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*body$/);
    }
  });

  test('a network gets no more than it leaves to that one', async () => {
    const before = await postAll(...Array(4).fill('192.0.2.1'), ...Array(2).fill('192.0.2.2'), '192.0.2.3');
    await postAll('192.0.2.4', '192.0.2.5', '192.0.2.5');
    expect((await exchange(port, '/', from('192.0.2.5'))).status).toBe(503);
    expect((await exchange(port, '/', from('192.0.2.1'))).status).toBe(503);
    for (const kept of before.slice(2)) {
      kept.send();
      expect(await kept.answer).toMatch(/^HTTP\/1\.1 200 /);
    }
  });
});

test('where all connections are taken, a new one is served and the one that has been idle longest is closed', async () => {
  await closeListener(server, 0);
  await start({ maxConnections: 2 });
  const idle = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')] as const;
  for (const socket of idle) {
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'data');
  }
  const closed = once(idle[0], 'close');
  expect((await exchange(port, '/')).status).toBe(200);
  await closed;
  idle[1].write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(String(await once(idle[1], 'data'))).toMatch(/^HTTP\/1\.1 200 /);
  idle[1].destroy();
});

describe('closing', () => {
  test('a request under way is answered, and new ones are turned away', async () => {
    const [asked, released] = [signalled(), signalled()];
    dispatch = async () => {
      asked.tell();
      await released.told;
      return OK;
    };
    const underWay = exchange(port, '/');
    await asked.told;
    const closed = closeListener(server, 60_000);
    await expect(exchange(port, '/')).rejects.toThrow('ECONNREFUSED');
    released.tell();
    expect((await underWay).body).toBe('fine');
    await closed;
  });

  test('what takes longer than the grace is cut', async () => {
    const asked = new Promise<void>((resolve) => {
      dispatch = () => new Promise(() => resolve());
    });
    const underWay = exchange(port, '/').catch((error: NodeJS.ErrnoException) => error.code);
    await asked;
    await closeListener(server, 0);
    expect(await underWay).toBe('ECONNRESET');
  });

  test('an idle connection does not hold it up', async () => {
    server.keepAliveTimeout = LONG_MS;
    const socket = connect(port, '127.0.0.1', () => socket.write(GET));
    await once(socket, 'data');
    await closeListener(server, LONG_MS);
    socket.destroy();
  });

  test('nor does a connection on which nothing is sent', async () => {
    server.setTimeout(LONG_MS);
    const accepted = once(server, 'connection');
    const socket = connect(port, '127.0.0.1');
    await accepted;
    await closeListener(server, LONG_MS);
    socket.destroy();
  });

  test('nor does one that is kept after an answer which began before', async () => {
    server.keepAliveTimeout = LONG_MS;
    const released = signalled();
    async function* pieces() {
      yield Buffer.from('one');
      await released.told;
    }
    dispatch = async () => ({ ...OK, body: pieces() as unknown as BodyStream });
    const socket = connect(port, '127.0.0.1', () => socket.write(GET));
    const [head] = await once(socket, 'data');
    expect(String(head)).not.toMatch(/connection: close/i);
    const closed = closeListener(server, LONG_MS);
    released.tell();
    await closed;
    socket.destroy();
  });

  test('a request that was on its way on a new connection is answered', async () => {
    const accepted = once(server, 'connection');
    const socket = connect(port, '127.0.0.1');
    await accepted;
    const closed = closeListener(server, LONG_MS);
    socket.write(GET);
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
    await closed;
  });

  test('a request of which a part has arrived is answered on a connection that was used before', async () => {
    let accepted: Socket | undefined;
    server.once('connection', (socket) => {
      accepted = socket;
    });
    const socket = connect(port, '127.0.0.1', () => socket.write(GET));
    await once(socket, 'data');
    const before = accepted?.bytesRead;
    socket.write(GET.slice(0, 20));
    await eventually('that the part has arrived', () => accepted?.bytesRead !== before);
    const closed = closeListener(server, LONG_MS);
    socket.write(GET.slice(20));
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
    await closed;
  });

  test('an answer that has ended reaches a slow reader whole', async () => {
    // More than the buffers of the kernel hold.
    const body = Buffer.alloc(32 * 1_024 * 1_024);
    dispatch = async () => ({ ...OK, body });
    const socket = connect(port, '127.0.0.1', () => socket.write(GET));
    let receivedBytes = 0;
    socket.on('data', (chunk: Buffer) => {
      receivedBytes += chunk.length;
    });
    await once(socket, 'data');
    socket.pause();
    const closed = closeListener(server, LONG_MS);
    socket.resume();
    await Promise.all([once(socket, 'end'), closed]);
    expect(receivedBytes).toBeGreaterThan(body.length);
  });
});

test('a port that is taken is an error that says so', async () => {
  const second = createListener({
    api: 'x',
    dispatch,
    trustedProxies: [],
    log: recorded.log,
    timer: () => undefined,
  });
  await expect(listen(second, port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('a burst of a thousand connections gets in while the listener is busy', () => {
  const burst = `
    let connected = 0;
    for (let i = 0; i < 1_000; i++) {
      require('node:net').connect(${port}, '127.0.0.1', () => {
        connected += 1;
        if (connected === 1_000) process.exit(0);
      });
    }`;
  // This process, and with it the listener, does nothing else until the other has ended.
  const { status } = spawnSync(process.execPath, ['-e', burst], { timeout: 30_000 });
  expect(status).toBe(0);
});

describe('the address in the log', () => {
  const xff = { headers: { 'x-forwarded-for': '203.0.113.9, 10.0.0.7' } };
  const client = async () => (await recorded.nextLine(({ msg }) => msg === 'request')).client;

  test('is the peer, whatever it claims', async () => {
    await exchange(port, '/', xff);
    expect(await client()).toBe('127.0.0.1');
  });

  test.each([
    ['the peer is trusted', [{ address: '127.0.0.0', prefix: 8 }], '10.0.0.7'],
    [
      'both proxies are',
      [
        { address: '127.0.0.1', prefix: 32 },
        { address: '10.0.0.0', prefix: 8 },
      ],
      '203.0.113.9',
    ],
    ['only some other is', [{ address: '10.0.0.0', prefix: 8 }], '127.0.0.1'],
  ])('is what trusted proxies say: %s', async (_, trustedProxies, expected) => {
    await closeListener(server, 0);
    await start({ trustedProxies });
    await exchange(port, '/', xff);
    expect(await client()).toBe(expected);
  });
});

test('each request is timed once, by operation and status', async () => {
  await exchange(port, '/');
  await recorded.nextLine(({ msg }) => msg === 'request');
  expect(timed).toEqual([['op', 200, expect.any(Number), 'test']]);
});

test('a request is in flight until it is answered, refused or left', async () => {
  const changes: unknown[][] = [];
  await closeListener(server, 0);
  await start({ inFlight: (...change) => changes.push(change) });
  dispatch = async () => {
    expect(changes).toEqual([['test', 1]]);
    return OK;
  };
  await exchange(port, '/');
  expect(changes).toEqual([
    ['test', 1],
    ['test', -1],
  ]);
  const entered = new Promise<void>((resolve) => {
    dispatch = (request) => {
      resolve();
      return new Promise((_, reject) => request.readBody().then(undefined, reject));
    };
  });
  const socket = connect(port, '127.0.0.1', () =>
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n'),
  );
  await entered;
  expect(changes).toHaveLength(3);
  socket.destroy();
  await recorded.nextLine(({ status }) => status === 499);
  expect(changes.slice(2)).toEqual([
    ['test', 1],
    ['test', -1],
  ]);
});

test.each(['before', 'after'])(
  'so are those of long answers in one connection, left %s they begin',
  async (when) => {
    const count = 3;
    let inFlight = 0;
    await closeListener(server, 0);
    await start({
      inFlight: (_, change) => {
        inFlight += change;
      },
    });
    const { told: begun, tell: begin } = signalled();
    async function* endless() {
      for (;;) {
        yield Buffer.alloc(64 * 1_024);
      }
    }
    dispatch = async () => {
      await begun;
      return { ...OK, body: endless() as unknown as BodyStream };
    };
    const socket = connect(port, '127.0.0.1');
    socket.pause().write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(count));
    await eventually('all are in flight', () => inFlight === count);
    if (when === 'after') {
      begin();
      await once(socket.resume(), 'data');
      socket.destroy();
    } else {
      socket.destroy();
      await once(seen[0]?.left as AbortSignal, 'abort');
      begin();
    }
    await eventually('none is in flight', () => inFlight === 0);
    const lines = recorded.lines().filter(({ msg }) => msg === 'request');
    const status = when === 'after' ? 200 : 499;
    expect(lines).toMatchObject(Array(count).fill({ status, code: 'client_left' }));
  },
);

test('an answer whose client has left is logged and timed as 499, and a long one is released', async () => {
  let released = 0;
  const unread = () => Promise.reject(new Error('it is read'));
  const answers = [
    OK,
    { ...OK, status: 304, body: '' },
    {
      ...OK,
      body: bodyStream(unread, async () => {
        released += 1;
      }),
    },
  ];
  for (const answer of answers) {
    const { told: begun, tell: begin } = signalled();
    dispatch = async ({ left }) => {
      begin();
      await once(left, 'abort');
      return answer;
    };
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'));
    await begun;
    socket.destroy();
    await eventually('that it is timed', () => timed.length === answers.indexOf(answer) + 1);
  }
  expect(timed).toEqual(answers.map(() => ['op', 499, expect.any(Number), 'test']));
  const left = { level: 'info', status: 499, operation: 'op', code: 'client_left' };
  expect(recorded.lines()).toMatchObject(answers.map(() => left));
  expect(released).toBe(1);
});

test.each([
  ['https://gateway.example.com', 'max-age=31536000'],
  ['http://localhost:4001', null],
  [undefined, null],
])('an origin of %s says to come back by HTTPS only: %s', async (publicUrl, expected) => {
  await closeListener(server, 0);
  await start({ publicUrl });
  for (const method of ['GET', 'HEAD']) {
    const { headers } = await fetch(`http://127.0.0.1:${port}/`, { method });
    expect(headers.get('strict-transport-security')).toBe(expected);
  }
});
