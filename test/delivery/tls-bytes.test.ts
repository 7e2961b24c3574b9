import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { TlsBytes } from '../../src/delivery/tls-bytes.js';
import { listenOnLoopback } from '../support/loopback.js';

/** What Node asks of a socket in one read. */
const READ_BYTES = 64 * 1_024;
const FLOOD_BYTES = 16 * 1_024 * 1_024;

/** A connection to an address, with the bytes that it has sent. */
function connectionTo(remoteAddress: string) {
  const tcp = Object.assign(new Duplex({ read: () => undefined, write: (_, __, done) => done() }), {
    bytesRead: 0,
    remoteAddress,
  });
  const bytes = new TlsBytes(tcp as unknown as Socket);
  const send = (text: string) => {
    tcp.bytesRead += text.length;
    tcp.push(text);
  };
  return { bytes, send, end: () => tcp.push(null) };
}

describe.each([
  ['handshakes take a step', 'certificates', false],
  ['after the handshake, pieces that are larger than most answers pass', 'x'.repeat(5_000), true],
])('%s', (_, piece, isOpen) => {
  test('in each turn of the event loop, and networks take turns', async () => {
    const taken: string[] = [];
    const addresses = { 'mine 1': '2001:db8:1:1::1', 'mine 2': '2001:db8:1:2::2', 'mine 3': '2001:db8:1::3' };
    for (const [name, address] of Object.entries({ ...addresses, theirs: '192.0.2.1' })) {
      const { bytes, send } = connectionTo(address);
      if (isOpen) {
        bytes.open();
      }
      bytes.on('data', () => taken.push(name));
      send(piece);
    }
    const counts: number[] = [];
    while (taken.length < 4) {
      await new Promise(setImmediate);
      counts.push(taken.length);
    }
    expect(taken.filter((name) => name !== 'theirs')).toEqual(Object.keys(addresses));
    expect(taken.at(-1)).toBe('mine 3');
    const steps = counts.map((count, index) => count - (counts[index - 1] ?? 0));
    expect(Math.max(...steps)).toBe(1);
  });
});

test('after the handshake, the bytes of a turn arrive in that turn and in their order', async () => {
  const connections = [1, 2, 3].map((number) => connectionTo(`192.0.2.${number}`));
  const taken: string[] = [];
  for (const { bytes, send } of connections) {
    bytes.open();
    bytes.on('data', (data) => taken.push(String(data)));
    send('a');
    send('b');
  }
  await new Promise(setImmediate);
  expect(taken.toSorted().join('')).toBe('aaabbb');
});

test('what arrives while a step waits comes after it', async () => {
  const first = connectionTo('one');
  const second = connectionTo('two');
  let taken = '';
  first.bytes.resume();
  second.bytes.on('data', (data) => {
    taken += data;
  });
  first.send('certificates');
  second.send('a');
  await new Promise(process.nextTick);
  second.bytes.open();
  second.send('b');
  while (taken.length < 2) {
    await new Promise(setImmediate);
  }
  expect(taken).toBe('ab');
});

test('of a receiver that sends without end, TLS gets what one or two reads return in a turn', async () => {
  const flood = createServer((socket) => socket.on('error', () => undefined).end(Buffer.alloc(FLOOD_BYTES)));
  const tcp = connect(await listenOnLoopback(flood), '127.0.0.1');
  await once(tcp, 'connect');
  const bytes = new TlsBytes(tcp);
  bytes.open();
  let inTurn = 0;
  let most = 0;
  let sum = 0;
  bytes.on('data', (data) => {
    inTurn += data.length;
    sum += data.length;
  });
  while (sum < FLOOD_BYTES) {
    await new Promise(setImmediate);
    most = Math.max(most, inTurn);
    inTurn = 0;
  }
  flood.close();
  expect(most).toBeLessThanOrEqual(2 * READ_BYTES);
});

test('a connection ends after the piece that waits', async () => {
  const first = connectionTo('one');
  const second = connectionTo('two');
  first.bytes.resume();
  let taken = 0;
  second.bytes.open();
  second.bytes.on('data', ({ length }) => {
    taken += length;
  });
  first.send('certificates');
  second.send('x'.repeat(5_000));
  second.end();
  await once(second.bytes, 'end');
  expect(taken).toBe(5_000);
});
