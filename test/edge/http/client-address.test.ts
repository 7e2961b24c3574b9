import { createServer } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { clientAddress, type Network, trusted } from '../../../src/edge/http/listener.js';
import { exchange } from '../../support/http-exchange.js';
import { listenOnLoopback } from '../../support/loopback.js';
import { recordedLog } from '../../support/recorded-log.js';

const PROXIES: Network[] = [
  { address: '127.0.0.1', prefix: 32 },
  { address: '10.0.0.0', prefix: 8 },
];

let close: () => void = () => undefined;

afterEach(() => close());

/** A server that says from which address it was asked. */
async function asked(trustedProxies: readonly Network[]) {
  const { log, lines, text } = recordedLog();
  const addressOf = clientAddress(trusted(trustedProxies), { api: 'test', log });
  const server = createServer((request, response) => response.end(addressOf(request)));
  close = () => server.close();
  const port = await listenOnLoopback(server);
  const from = async (forwardedFor?: string) =>
    (await exchange(port, '/', { headers: { 'x-forwarded-for': forwardedFor } })).body;
  return { from, lines, text };
}

test.each([
  ['a port', '203.0.113.9:51234', '203.0.113.9'],
  ['a port of IPv6', '[2001:db8::9]:443', '2001:db8::9'],
  ['brackets', '[2001:db8::9]', '2001:db8::9'],
  ['IPv6 alone', '2001:db8::9', '2001:db8::9'],
  ['the port of a trusted proxy', '203.0.113.9, 10.0.0.7:8080', '203.0.113.9'],
  ['what is no address', 'unknown', '127.0.0.1'],
  ['garbage before a trusted proxy', '203.0.113.9, _hidden, 10.0.0.7', '10.0.0.7'],
  ['an address that there is not', '203.0.113.999', '127.0.0.1'],
  ['an address that there is not, with a port', '999.0.113.9:80', '127.0.0.1'],
  ['a port that is none', '203.0.113.9:x', '127.0.0.1'],
  ['nothing', '', '127.0.0.1'],
])('a trusted proxy may write %s', async (_, written, expected) => {
  const { from, lines } = await asked(PROXIES);
  expect(await from(written)).toBe(expected);
  expect(lines()).toEqual([]);
});

test('X-Forwarded-For of a peer that is not trusted is told once, and not what it says', async () => {
  const { from, lines, text } = await asked([{ address: '10.0.0.0', prefix: 8 }]);
  expect([await from(), lines()]).toEqual(['127.0.0.1', []]);
  expect([await from('203.0.113.9'), await from('203.0.113.10')]).toEqual(['127.0.0.1', '127.0.0.1']);
  expect(lines()).toMatchObject([
    { level: 'warn', msg: expect.stringContaining('TRUSTED_PROXIES'), api: 'test', peer: '127.0.0.1' },
  ]);
  expect(text()).not.toContain('203.0.113');
});
