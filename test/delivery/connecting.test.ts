import { createServer as createHttpsServer } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net, { createServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { AddressGuard } from '../../src/delivery/address-guard.js';
import { eventually } from '../support/eventually.js';
import { fakeTimeouts } from '../support/fake-timeouts.js';
import { freePorts } from '../support/free-ports.js';
import { listenOnLoopback } from '../support/loopback.js';
import { selfSignedCertificate } from '../support/self-signed-certificate.js';
import { signalled } from '../support/signalled.js';
import { noContent, rawReceivers } from './raw-receivers.js';
import { body, senders, signingKey, targetAt } from './senders.js';

const open = senders();
const raw = rawReceivers();
const { certificate, key } = selfSignedCertificate();

/** The suites of TLS 1.2 with DHE and a key that clients accept, by their numbers at IANA. */
const DHE_SUITES = [
  0x33, 0x39, 0x67, 0x6b, 0x9e, 0x9f, 0xccaa, 0xc052, 0xc053, 0xc09e, 0xc09f, 0xc0a2, 0xc0a3,
];

/** The groups of finite fields in TLS 1.3, by their numbers. */
const FINITE_FIELDS = [0x100, 0x101, 0x102, 0x103, 0x104];

/** The numbers of the groups that the client offers in its first message. */
function groupsOffered(hello: Buffer): number[] {
  const afterSession = 44 + hello.readUInt8(43);
  const afterSuites = afterSession + 2 + hello.readUInt16BE(afterSession);
  let at = afterSuites + 1 + hello.readUInt8(afterSuites) + 2;
  const SUPPORTED_GROUPS = 10;
  while (hello.readUInt16BE(at) !== SUPPORTED_GROUPS) {
    at += 4 + hello.readUInt16BE(at + 2);
  }
  const count = hello.readUInt16BE(at + 4) / 2;
  return Array.from({ length: count }, (_, index) => hello.readUInt16BE(at + 6 + 2 * index));
}

/** The numbers of the suites that the client offers in its first message. */
function suitesOffered(hello: Buffer): number[] {
  const afterSession = 44 + hello.readUInt8(43);
  const count = hello.readUInt16BE(afterSession) / 2;
  return Array.from({ length: count }, (_, index) => hello.readUInt16BE(afterSession + 2 + 2 * index));
}

/** Names of the tests, all of which are this machine. */
function guardKnowing(...addresses: string[]) {
  return new AddressGuard({
    allowedNetworks: [],
    allowLoopback: true,
    resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  });
}

function to(url: string) {
  return { url, signingSecrets: [signingKey] };
}

describe('a connection', () => {
  test('that is refused is a failure', async () => {
    const [port = 0] = await freePorts(1);
    const report = await open().attempt(targetAt(port), body);
    expect(report).toMatchObject({
      outcome: 'CONNECTION_FAILED',
      message: `127.0.0.1:${port} refused the connection.`,
    });
  });

  test('to a host without a name is a failure that names it', async () => {
    const guard = new AddressGuard({
      allowedNetworks: [],
      allowLoopback: true,
      resolve: () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })),
    });
    const report = await open({ guard }).attempt(to('https://hooks.example.invalid/'), body);
    expect(report).toMatchObject({
      outcome: 'NAME_NOT_RESOLVED',
      message: 'The host name hooks.example.invalid does not exist.',
    });
  });

  test('to a host with silent name servers is abandoned', async () => {
    const guard = new AddressGuard({
      allowedNetworks: [],
      allowLoopback: true,
      resolve: () => new Promise(() => undefined),
    });
    const report = await open({ guard, timeoutMs: 60 }).attempt(to('https://hooks.example.com/'), body);
    expect(report).toMatchObject({
      outcome: 'TIMED_OUT',
      message: 'The name servers gave no answer for hooks.example.com within 0.06 s.',
    });
  });

  test('continues to the next address of a host', async () => {
    const receiver = await raw.start(noContent);
    const guard = guardKnowing('127.0.0.2', '127.0.0.1');
    const { outcome } = await open({ guard }).attempt(to(`http://hooks.example.com:${receiver.port}/`), body);
    expect(outcome).toBe('SUCCEEDED');
    expect(receiver.requests[0]).toContain(`host: hooks.example.com:${receiver.port}\r\n`);
  });

  test('gives each address time for a first packet that is lost and sent again', async () => {
    const receiver = await raw.start(noContent);
    const connect = jest.spyOn(net, 'connect');
    syncBuiltinESMExports();
    try {
      await open().attempt(targetAt(receiver.port), body);
      const [[options]] = connect.mock.calls as unknown as [[net.TcpSocketConnectOpts]];
      const SENT_AGAIN_AFTER_MS = 1_000;
      expect(options.autoSelectFamilyAttemptTimeout).toBeGreaterThanOrEqual(2 * SENT_AGAIN_AFTER_MS);
      await open({ timeoutMs: 2_001 }).attempt(targetAt(receiver.port), body);
      // Leaves the next address its part of the attempt.
      expect(connect.mock.lastCall).toMatchObject([{ autoSelectFamilyAttemptTimeout: 1_001 }]);
    } finally {
      jest.restoreAllMocks();
      syncBuiltinESMExports();
    }
  });

  test.each(['[::1]', 'ip6.example.com'])('to %s goes over IPv6', async (host) => {
    const receiver = await raw.start(noContent, '::1');
    const report = await open({ guard: guardKnowing('::1') }).attempt(
      to(`http://${host}:${receiver.port}/`),
      body,
    );
    expect(report.message).toBe('');
    expect(receiver.requests).toHaveLength(1);
  });

  test('to a name in another script goes to it as the name servers write it', async () => {
    const receiver = await raw.start(noContent);
    const asked: string[] = [];
    const guard = new AddressGuard({
      allowedNetworks: [],
      allowLoopback: true,
      resolve: async (hostname) => {
        asked.push(hostname);
        return [{ address: '127.0.0.1', family: 4 }];
      },
    });
    await open({ guard }).attempt(to(`http://bücher.example:${receiver.port}/`), body);
    expect(asked).toEqual(['xn--bcher-kva.example']);
    expect(receiver.requests[0]).toContain('host: xn--bcher-kva.example:');
  });
});

describe('TLS', () => {
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  let httpsPort: number;

  beforeAll(async () => {
    const server = createHttpsServer({ cert: certificate, key }, (request, response) => {
      request.resume().once('end', () => response.writeHead(204).end());
    });
    httpsPort = await listenOnLoopback(server);
    server.unref();
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) {
      socket.destroy();
    }
    for (const server of servers.splice(0)) {
      server.close();
    }
  });

  async function listen(take: Parameters<typeof createServer>[1]): Promise<number> {
    const server = createServer(take);
    servers.push(server.on('connection', (socket) => sockets.push(socket)));
    return listenOnLoopback(server);
  }

  test.each(['127.0.0.1', 'localhost', 'localhost.'])(
    'is agreed with %s, whom the certificate names',
    async (host) => {
      const sender = open({ trusted: certificate, guard: guardKnowing('127.0.0.1') });
      const report = await sender.attempt(to(`https://${host}:${httpsPort}/`), body);
      expect(report).toMatchObject({ outcome: 'SUCCEEDED', message: '' });
    },
  );

  test('with a name that the certificate does not hold fails', async () => {
    const sender = open({ trusted: certificate, guard: guardKnowing('127.0.0.1') });
    const report = await sender.attempt(to(`https://hooks.example.com:${httpsPort}/`), body);
    expect(report).toMatchObject({
      outcome: 'TLS_FAILED',
      message: 'The certificate of the receiver is not for hooks.example.com.',
    });
  });

  test('with an untrusted certificate fails', async () => {
    const report = await open().attempt(to(`https://127.0.0.1:${httpsPort}/`), body);
    expect(report).toMatchObject({
      outcome: 'TLS_FAILED',
      message: 'The certificate of 127.0.0.1 is self-signed.',
    });
  });

  test('with a receiver that does not speak it fails', async () => {
    const port = await listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const report = await open().attempt(to(`https://127.0.0.1:${port}/`), body);
    expect(report).toMatchObject({ outcome: 'TLS_FAILED', httpStatus: undefined });
    expect(report.message).toBe('127.0.0.1 does not speak TLS on this port.');
  });

  test('with a receiver that hangs up fails', async () => {
    const port = await listen((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const report = await open().attempt(to(`https://127.0.0.1:${port}/`), body);
    expect(report).toMatchObject({
      outcome: 'TLS_FAILED',
      message: '127.0.0.1 closed the connection before the TLS handshake was complete.',
    });
  });

  test('is offered without suites and groups in which the receiver chooses how long a computation takes', async () => {
    const { told: hello, tell: greet } = signalled<Buffer>();
    const port = await listen((socket) => socket.once('data', greet));
    const sender = open();
    void sender.attempt(to(`https://127.0.0.1:${port}/`), body);
    const offered = suitesOffered(await hello);
    expect(offered).toContain(0xc02f);
    expect(offered.filter((suite) => DHE_SUITES.includes(suite))).toEqual([]);
    const groups = groupsOffered(await hello);
    expect(groups).toContain(0x1d);
    expect(groups.filter((group) => FINITE_FIELDS.includes(group))).toEqual([]);
  });

  test.each([
    [30, 'SUCCEEDED', ''],
    [90, 'TLS_FAILED', '127.0.0.1 sent more than 24 KiB before the TLS handshake was complete.'],
  ])('with a chain of %d certificates ends as %s', async (count, outcome, message) => {
    const cert = certificate.repeat(count);
    const receiver = await raw.startTls({ cert, key }, noContent);
    const sender = open({ trusted: certificate });
    const report = await sender.attempt(to(`https://127.0.0.1:${receiver.port}/`), body);
    expect(report).toMatchObject({ outcome, message });
  });

  test('with many records for a short answer is cut off like a long answer', async () => {
    const receiver = await raw.startTls({ cert: certificate, key }, (socket) => {
      const next = (left: number) => left > 0 && socket.write('x', () => next(left - 1));
      // It stops before the end, so that the answer is never complete.
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 15000\r\n\r\n', () => next(8_000));
    });
    const sender = open({ trusted: certificate });
    const report = await sender.attempt(to(`https://127.0.0.1:${receiver.port}/`), body);
    expect(report).toMatchObject({
      outcome: 'PROTOCOL_ERROR',
      message: 'The answer is not complete after 128 KiB.',
    });
  });

  test('that the receiver begins again on a kept connection is not done again', async () => {
    // TLS 1.2 lets a server do so.
    const options = { cert: certificate, key, maxVersion: 'TLSv1.2' as const };
    let again = 0;
    const receiver = await raw.startTls(options, (socket) => {
      const beginAgain = () =>
        (socket as TLSSocket).renegotiate({ rejectUnauthorized: false }, (error) => {
          again += error ? 0 : 1;
        });
      socket.write('HTTP/1.1 204 No Content\r\nkeep-alive: timeout=60\r\n\r\n', beginAgain);
    });
    const sender = open({ trusted: certificate });
    const report = await sender.attempt(to(`https://127.0.0.1:${receiver.port}/`), body);
    expect(report.outcome).toBe('SUCCEEDED');
    // Long before the minute for which the receiver may keep it.
    await eventually('the receiver is let go', () => receiver.sockets.size === 0, 30_000);
    expect(again).toBe(0);
  });

  test('that never ends is given up, and its connection closed', async () => {
    const { told: begun, tell: greet } = signalled<unknown>();
    const { told: closed, tell: hungUp } = signalled<unknown>();
    const port = await listen((socket) =>
      socket
        .on('error', () => undefined)
        .on('data', greet)
        .once('close', hungUp),
    );
    fakeTimeouts();
    const attempt = open({ timeoutMs: 3_000 }).attempt(to(`https://127.0.0.1:${port}/`), body);
    await begun;
    jest.advanceTimersByTime(3_000);
    jest.useRealTimers();
    const report = await attempt;
    expect(report).toMatchObject({
      outcome: 'TIMED_OUT',
      message: `The TLS handshake with 127.0.0.1:${port} was not complete within 3 s.`,
    });
    await closed;
  });
});
