import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, test } from '@jest/globals';
import { TlsBytes } from '../../src/delivery/tls-bytes.js';

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
  return { bytes, send };
}

test('handshakes take a step in each turn of the event loop, and networks take turns', async () => {
  const taken: string[] = [];
  const addresses = { 'mine 1': '2001:db8:1:1::1', 'mine 2': '2001:db8:1:2::2', 'mine 3': '2001:db8:1::3' };
  for (const [name, address] of Object.entries({ ...addresses, theirs: '192.0.2.1' })) {
    const { bytes, send } = connectionTo(address);
    bytes.on('data', () => taken.push(name));
    send('certificates');
  }
  const counts: number[] = [];
  while (taken.length < 4) {
    await new Promise(setImmediate);
    counts.push(taken.length);
  }
  expect(taken).toEqual(['mine 1', 'mine 2', 'theirs', 'mine 3']);
  const steps = counts.map((count, index) => count - (counts[index - 1] ?? 0));
  expect(Math.max(...steps)).toBe(1);
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
