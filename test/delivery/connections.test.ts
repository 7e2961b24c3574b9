import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { AddressGuard } from '../../src/delivery/address-guard.js';
import { Connections } from '../../src/delivery/connections.js';
import { Exchange, type ExchangeEnd } from '../../src/delivery/exchange.js';
import { TlsBytes } from '../../src/delivery/tls-bytes.js';
import { eventually } from '../support/eventually.js';
import { fakeTimeouts } from '../support/fake-timeouts.js';
import { selfSignedCertificate } from '../support/self-signed-certificate.js';
import { answering, noContent, type RawReceiver, rawReceivers } from './raw-receivers.js';
import { body, senders, targetAt } from './senders.js';

// Before the hooks of what follows, which close in real time.
afterEach(() => {
  jest.useRealTimers();
});

const open = senders();
const raw = rawReceivers();
const guard = new AddressGuard({ allowedNetworks: [], allowLoopback: true });
/** Otherwise a connection is closed when a busy machine leaves it idle for a second. */
const keep = answering('HTTP/1.1 204 No Content\r\nkeep-alive: timeout=60\r\n\r\n');
const nextTurn = () => new Promise(setImmediate);

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await nextTurn();
  }
}

/** One exchange over the pool itself, as a sender makes it. */
async function exchange(connections: Connections, { port }: RawReceiver): Promise<ExchangeEnd> {
  const connection = connections.take(new URL(`http://127.0.0.1:${port}`));
  const end = await new Promise<ExchangeEnd>((resolve) => {
    const exchange = new Exchange('place', resolve, { endsAt: Number.POSITIVE_INFINITY, aheadMs: 0 });
    connection.client.dispatch({ method: 'POST', path: '/', body: '{}' }, exchange);
  });
  end.isConnectionFree ? connections.release(connection) : connection.destroy();
  await nextTurn();
  return end;
}

/** Queues large pieces of ten networks: later pieces wait for ten turns of the event loop. */
function takeTurns(): void {
  for (let network = 1; network <= 10; network += 1) {
    const remoteAddress = `192.0.2.${network}`;
    const tcp = Object.assign(new Duplex({ read: () => undefined }), { remoteAddress });
    new TlsBytes(tcp as unknown as Socket);
    tcp.emit('data', Buffer.alloc(5_000));
  }
}

describe('a connection', () => {
  test('is used again for the next delivery to the same receiver', async () => {
    const receiver = await raw.start(keep);
    const sender = open();
    for (let count = 0; count < 5; count += 1) {
      expect((await sender.attempt(targetAt(receiver.port, `/${count}`), body)).outcome).toBe('SUCCEEDED');
      await nextTurn();
    }
    expect(receiver.connections).toBe(1);
  });

  test('carries one delivery at a time', async () => {
    const receiver = await raw.start((socket) => setImmediate(() => noContent(socket, 0)));
    const sender = open();
    await Promise.all(Array.from({ length: 8 }, () => sender.attempt(targetAt(receiver.port), body)));
    expect(receiver.connections).toBe(8);
  });

  test('that the receiver closes after each answer is not used again', async () => {
    const receiver = await raw.start(
      answering('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
    );
    const sender = open();
    for (let count = 0; count < 3; count += 1) {
      expect((await sender.attempt(targetAt(receiver.port), body)).outcome).toBe('SUCCEEDED');
      await nextTurn();
    }
    expect(receiver.connections).toBe(3);
  });

  test('is forgotten when the receiver closes it while idle', async () => {
    const connections = new Connections({ guard, timeoutMs: 30_000 });
    const receiver = await raw.start(keep);
    await exchange(connections, receiver);
    expect(receiver.sockets.size).toBe(1);
    for (const socket of receiver.sockets) {
      socket.end();
    }
    await eventually('it is forgotten', () => receiver.sockets.size === 0);
    expect((await exchange(connections, receiver)).outcome).toBe('SUCCEEDED');
    expect(receiver.connections).toBe(2);
    connections.close();
  });

  test('on which the receiver sends too much while nothing is asked is closed', async () => {
    const connections = new Connections({ guard, timeoutMs: 30_000 });
    const receiver = await raw.start(keep);
    await exchange(connections, receiver);
    expect(connections.closeTalkative()).toBe(true);
    const kept = connections.take(new URL(`http://127.0.0.1:${receiver.port}`));
    kept.allow(-1);
    connections.release(kept);
    await nextTurn();
    expect(connections.closeTalkative()).toBe(false);
    await eventually('the receiver is let go', () => receiver.sockets.size === 0);
    expect(receiver.connections).toBe(1);
  });

  test('whose idle limit ended while the event loop stalled costs no attempt', async () => {
    fakeTimeouts();
    const receiver = await raw.start(noContent);
    const sender = open();
    await sender.attempt(targetAt(receiver.port), body);
    await nextTurn();
    const second = sender.attempt(targetAt(receiver.port), body);
    // The stall: its timer is due before the request is written.
    jest.advanceTimersByTime(1_500);
    expect(await second).toMatchObject({ outcome: 'SUCCEEDED', message: '' });
    expect(receiver.connections).toBe(2);
    expect(receiver.requests).toHaveLength(2);
  });

  test('that closes during a stall leaves the next connection only the remaining time of the attempt', async () => {
    fakeTimeouts();
    const startedAt = Math.round(performance.now());
    const clock = jest.spyOn(performance, 'now').mockReturnValue(startedAt);
    try {
      const receiver = await raw.start((socket, count) => count === 1 && noContent(socket, count));
      const sender = open({ timeoutMs: 3_000 });
      await sender.attempt(targetAt(receiver.port), body);
      await nextTurn();
      const second = sender.attempt(targetAt(receiver.port), body);
      clock.mockReturnValue(startedAt + 2_000);
      jest.advanceTimersByTime(2_000);
      await eventually('the request on the next connection', () => receiver.requests.length === 2);
      expect(receiver.connections).toBe(2);
      jest.advanceTimersByTime(1_000);
      expect(await Promise.race([second, turns(10)])).toMatchObject({ outcome: 'TIMED_OUT' });
    } finally {
      clock.mockRestore();
    }
  });

  test('that breaks as the next delivery goes out is one failed attempt, and nothing is sent again', async () => {
    const receiver = await raw.start((socket, count) => {
      count === 1 ? keep(socket, count) : socket.resetAndDestroy();
    });
    const sender = open();
    await sender.attempt(targetAt(receiver.port), body);
    await nextTurn();
    const report = await sender.attempt(targetAt(receiver.port), body);
    expect(report.outcome).toBe('CONNECTION_FAILED');
    await nextTurn();
    expect(receiver.requests).toHaveLength(2);
    expect(receiver.connections).toBe(1);
  });

  test('never takes what came beyond an answer for the answer to the next delivery', async () => {
    const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
    const refusal = 'HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n';
    const receiver = await raw.start((socket, count) => socket.write(count === 1 ? `${ok}${ok}` : refusal));
    const sender = open();
    expect((await sender.attempt(targetAt(receiver.port), body)).outcome).toBe('SUCCEEDED');
    expect((await sender.attempt(targetAt(receiver.port), body)).outcome).toBe('STATUS_REFUSED');
    expect(receiver.requests).toHaveLength(2);
  });

  test('with received bytes that wait for their decryption is not used again', async () => {
    const { certificate, key } = selfSignedCertificate();
    const receiver = await raw.startTls({ cert: certificate, key }, keep);
    const dialled: Socket[] = [];
    const note = (message: unknown) => dialled.push((message as { socket: Socket }).socket);
    subscribe('net.client.socket', note);
    try {
      const target = { ...targetAt(receiver.port), url: `https://127.0.0.1:${receiver.port}/` };
      const sender = open({ trusted: certificate });
      await sender.attempt(target, body);
      await nextTurn();
      const [tcp] = dialled.filter(({ remotePort }) => remotePort === receiver.port) as [Socket];
      const arrived = once(tcp.prependOnceListener('data', takeTurns), 'data');
      const refusal = `HTTP/1.1 500 Internal Server Error\r\ncontent-length: 5000\r\n\r\n${'x'.repeat(5_000)}`;
      for (const socket of receiver.sockets) {
        socket.write(refusal);
      }
      await arrived;
      expect(await sender.attempt(target, body)).toMatchObject({ outcome: 'SUCCEEDED', message: '' });
      expect(receiver.connections).toBe(2);
    } finally {
      unsubscribe('net.client.socket', note);
    }
  });
});

describe('the connections that are kept', () => {
  test('close by themselves when idle, or when the receiver asks', async () => {
    const connections = new Connections({ guard, timeoutMs: 30_000 });
    const silent = await raw.start(noContent);
    const hasty = await raw.start(answering('HTTP/1.1 204 No Content\r\nkeep-alive: timeout=1\r\n\r\n'));
    await eventually('one that is used again', async () => {
      const before = silent.connections;
      await exchange(connections, silent);
      return silent.connections === before;
    });
    await exchange(connections, hasty);
    await exchange(connections, hasty);
    expect(hasty.connections).toBe(2);
    await eventually('the receivers are let go', () => silent.sockets.size + hasty.sockets.size === 0);
  });

  test('are of many receivers, and all go with the sender', async () => {
    // None is closed because it is idle.
    fakeTimeouts();
    const connections = new Connections({ guard, timeoutMs: 30_000 });
    const receivers = await Promise.all(Array.from({ length: 40 }, () => raw.start(keep)));
    await Promise.all(receivers.map((receiver) => exchange(connections, receiver)));
    expect(receivers.map(({ sockets }) => sockets.size)).toEqual(Array(40).fill(1));
    connections.close();
    await eventually('every receiver is let go', () => receivers.every(({ sockets }) => sockets.size === 0));
  });

  test('leave room for those used last, when some receivers keep as many as there can be', async () => {
    const connections = new Connections({ guard, timeoutMs: 30_000 });
    const [hoarder, other] = [await raw.start(keep), await raw.start(keep)];
    await Promise.all(Array.from({ length: 512 }, () => exchange(connections, hoarder)));
    expect(hoarder.sockets.size).toBe(512);
    for (let count = 0; count < 3; count += 1) {
      await exchange(connections, other);
    }
    expect(other.connections).toBe(1);
    await eventually('one of the others is let go', () => hoarder.sockets.size === 511);
    connections.close();
  });

  test('are no more once the sender is closed', async () => {
    fakeTimeouts();
    const connections = new Connections({ guard, timeoutMs: 30_000 });
    const receiver = await raw.start(noContent);
    connections.close();
    await exchange(connections, receiver);
    await eventually('the receiver is let go', () => receiver.sockets.size === 0);
  });
});
