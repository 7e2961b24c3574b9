import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addressRulesOf } from '../../src/cli/from-config.js';
import { loadConfig } from '../../src/config/config.js';
import { network as networkSetting } from '../../src/config/parsers.js';
import { AddressGuard, type AddressGuardOptions } from '../../src/delivery/address-guard.js';
import { noContent, rawReceivers } from './raw-receivers.js';
import { body, senders, signingKey, targetAt } from './senders.js';

const LIVE: AddressGuardOptions = { allowedNetworks: [], allowLoopback: false };
const open = senders();
const raw = rawReceivers();

function knowing(...addresses: string[]) {
  return async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

function refusalOf(host: string, options: Partial<AddressGuardOptions> = {}) {
  return new AddressGuard({ ...LIVE, ...options }).refusalOf(new URL(`https://${host}/hook`));
}

describe('registering an address', () => {
  test.each([
    ['127.0.0.1', 'is a loopback address'],
    ['127.1', 'is a loopback address'],
    ['0x7f.1', 'is a loopback address'],
    ['2130706433', 'is a loopback address'],
    ['0177.0.0.1', 'is a loopback address'],
    ['127.0.0.1.', 'is a loopback address'],
    ['%31%32%37.0.0.1', 'is a loopback address'],
    ['①②⑦.⓪.⓪.①', 'is a loopback address'],
    ['[::1]', 'is a loopback address'],
    ['[::]', 'is an address that stands for another'],
    ['[0:0:0:0:0:0:0:1]', 'is a loopback address'],
    ['[::ffff:127.0.0.1]', 'is an address that stands for another'],
    ['[::ffff:7f00:1]', 'is an address that stands for another'],
    ['[::127.0.0.1]', 'is an address that stands for another'],
    ['[64:ff9b::7f00:1]', 'is an address that stands for another'],
    ['[64:ff9b:1::a00:1]', 'is an address that stands for another'],
    ['[2002:7f00:1::]', 'is an address that stands for another'],
    ['[2001:0:53aa:64c::]', 'is an address that stands for another'],
    ['[::ffff:8.8.8.8]', 'is an address that stands for another'],
    ['169.254.169.254', 'is a link-local address'],
    ['[fe80::1]', 'is a link-local address'],
    ['[::ffff:169.254.169.254]', 'is an address that stands for another'],
    ['10.0.0.1', 'is a private address'],
    ['172.16.0.1', 'is a private address'],
    ['172.31.255.255', 'is a private address'],
    ['192.168.1.1', 'is a private address'],
    ['100.100.100.200', 'is a private address'],
    ['[fd00:ec2::254]', 'is a private address'],
    ['[fec0::1]', 'is a private address'],
    ['168.63.129.16', 'is an address of the cloud platform'],
    ['224.0.0.1', 'is a multicast or broadcast address'],
    ['255.255.255.255', 'is a multicast or broadcast address'],
    ['[ff02::1]', 'is a multicast or broadcast address'],
    ['0.0.0.0', 'is an address that is reserved'],
    ['0', 'is an address that is reserved'],
    ['192.0.0.192', 'is an address that is reserved'],
    ['198.18.0.1', 'is an address that is reserved'],
    ['203.0.113.9', 'is an address that is reserved'],
    ['240.0.0.1', 'is an address that is reserved'],
    ['[2001:db8::1]', 'is an address that is reserved'],
    ['[3fff::1]', 'is an address that is reserved'],
    ['[100::1]', 'is an address that is reserved'],
    ['[4000::1]', 'is an address that is reserved'],
    ['[5f00::1]', 'is an address that is reserved'],
  ])('refuses %s, which %s', async (host, refusal) => {
    expect(await refusalOf(host)).toBe(refusal);
  });

  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.0.1',
    '172.32.0.1',
    '100.128.0.1',
    '[2606:4700::1111]',
    '[2a00:1450::1]',
  ])('takes %s', async (host) => {
    expect(await refusalOf(host)).toBeUndefined();
  });

  test('refuses a name that leads inside, and says where', async () => {
    expect(await refusalOf('hooks.example.com', { resolve: knowing('10.0.0.7') })).toBe(
      'resolves to 10.0.0.7, which is a private address',
    );
  });

  test('takes a public name, one that resolves publicly too, and one that does not resolve now', async () => {
    const nowhere = () => Promise.reject(new Error('no such name'));
    for (const resolve of [knowing('8.8.8.8'), knowing('10.0.0.7', '8.8.8.8'), nowhere, knowing()]) {
      expect(await refusalOf('hooks.example.com', { resolve })).toBeUndefined();
    }
  });

  test('takes what is allowed, and nothing beside it', async () => {
    const allowedNetworks = [networkSetting('10.1.0.0/16'), networkSetting('fd00::/8')];
    expect(await refusalOf('10.1.2.3', { allowedNetworks })).toBeUndefined();
    expect(await refusalOf('[fd00::1]', { allowedNetworks })).toBeUndefined();
    expect(await refusalOf('10.2.0.1', { allowedNetworks })).toBeDefined();
    expect(await refusalOf('127.0.0.1', { allowedNetworks })).toBeDefined();
    expect(await refusalOf('127.0.0.1', { allowLoopback: true })).toBeUndefined();
    expect(await refusalOf('[::1]', { allowLoopback: true })).toBeUndefined();
    expect(await refusalOf('192.168.0.1', { allowLoopback: true })).toBeDefined();
  });

  test('never takes an address of IPv6 outside of global unicast', async () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((part) => part.toString(16));
    const first = fc.integer({ min: 0, max: 0xffff }).filter((part) => part >> 13 !== 1);
    const rest = fc.array(group, { minLength: 7, maxLength: 7 });
    await fc.assert(
      fc.asyncProperty(first, rest, async (head, tail) => {
        expect(await refusalOf(`[${[head.toString(16), ...tail].join(':')}]`)).toBeDefined();
      }),
    );
  });
});

describe('connecting', () => {
  test.each([
    'http://127.0.0.1',
    'http://[::1]',
    'http://0x7f.1',
    'http://localhost',
    'http://hooks.example.com',
  ])('to %s is refused when it leads inside, and nothing is sent', async (origin) => {
    const receiver = await raw.start(noContent, origin.includes('[') ? '::1' : '127.0.0.1');
    const guard = new AddressGuard({ ...LIVE, resolve: knowing('127.0.0.1', '::1') });
    const target = { url: `${origin}:${receiver.port}/`, signingSecrets: [signingKey] };
    const report = await open({ guard }).attempt(target, body);
    expect(report.outcome).toBe('ADDRESS_REFUSED');
    expect(report.message).toMatch(
      /^Nothing was sent: .*is a loopback address, where deliveries must not go\.$/,
    );
    expect(receiver.connections).toBe(0);
  });

  test('goes to the address that was checked, whatever the name leads to a moment later', async () => {
    const inside = await raw.start(noContent);
    const answers = [['127.0.0.2'], ['127.0.0.1']];
    const guard = new AddressGuard({
      allowedNetworks: [networkSetting('127.0.0.2/32')],
      allowLoopback: false,
      allowedPorts: [inside.port],
      resolve: async () => (answers.shift() ?? ['127.0.0.1']).map((address) => ({ address, family: 4 })),
    });
    const target = { url: `http://rebinding.example.com:${inside.port}/`, signingSecrets: [signingKey] };
    expect((await open({ guard }).attempt(target, body)).outcome).toBe('CONNECTION_FAILED');
    expect(inside.connections).toBe(0);
  });

  test('dials only those addresses of a name that are allowed', async () => {
    const guard = new AddressGuard({ ...LIVE, resolve: knowing('10.0.0.7', '8.8.8.8', '::1') });
    expect(await guard.addressesOf(new URL('https://hooks.example.com'))).toEqual([
      { address: '8.8.8.8', family: 4 },
    ]);
  });

  test('to a name without any address says so', async () => {
    const guard = new AddressGuard({ ...LIVE, resolve: knowing() });
    await expect(guard.addressesOf(new URL('https://hooks.example.com'))).rejects.toMatchObject({
      outcome: 'NAME_NOT_RESOLVED',
      message: 'The host name hooks.example.com has no address.',
    });
  });
});

describe('an address that is not encrypted', () => {
  const http = new URL('http://hooks.example.com/');
  const https = new URL('https://hooks.example.com/');

  test.each(['live', 'demo'] as const)(
    'is judged on %s when it is registered and when it is dialled',
    async (ENVIRONMENT) => {
      const asked: string[] = [];
      const guard = new AddressGuard({
        ...addressRulesOf(loadConfig({ ENVIRONMENT })),
        resolve: async (name) => {
          asked.push(name);
          return [{ address: '8.8.8.8', family: 4 }];
        },
      });
      const judged = async (url: URL) => [
        await guard.refusalOf(url),
        await guard.addressesOf(url).catch(({ outcome, message }) => [outcome, message]),
      ];
      const taken = [undefined, [{ address: '8.8.8.8', family: 4 }]];
      const message = 'Nothing was sent: the address of the subscription must be https.';
      const refused = ['must be https', ['ADDRESS_REFUSED', message]];
      expect(await judged(http)).toEqual(ENVIRONMENT === 'live' ? refused : taken);
      // No name is looked up in vain.
      expect(asked).toEqual(ENVIRONMENT === 'live' ? [] : ['hooks.example.com']);
      expect(await judged(https)).toEqual(taken);
    },
  );

  test('gets nothing where only https is allowed, not even a connection', async () => {
    const receiver = await raw.start(noContent);
    const guard = new AddressGuard({ httpsOnly: true, allowedNetworks: [], allowLoopback: true });
    const report = await open({ guard }).attempt(targetAt(receiver.port), body);
    expect([report.outcome, receiver.connections]).toEqual(['ADDRESS_REFUSED', 0]);
  });
});

describe('a port', () => {
  const guardAt = (options: Partial<AddressGuardOptions>, ...addresses: string[]) =>
    new AddressGuard({ ...LIVE, resolve: knowing(...addresses), ...options });

  test.each(['', ':80', ':443', ':8080', ':8443'])('%s is one of HTTP', async (port) => {
    const url = new URL(`https://hooks.example.com${port}/hook`);
    expect(await guardAt({}, '8.8.8.8').refusalOf(url)).toBeUndefined();
    expect(await guardAt({}, '8.8.8.8').addressesOf(url)).toHaveLength(1);
  });

  test.each([':22', ':25', ':5432', ':6379', ':9200', ':444'])(
    '%s is refused, also when it is dialled',
    async (port) => {
      const url = new URL(`https://hooks.example.com${port}/hook`);
      const message = `has port ${port.slice(1)}, which is not among those that webhooks may go to (80, 443, 8080, 8443)`;
      expect(await guardAt({}, '8.8.8.8').refusalOf(url)).toBe(message);
      expect(await guardAt({}).refusalOf(url)).toBe(message);
      expect(await guardAt({}).refusalOf(new URL(`https://8.8.8.8${port}/`))).toBe(message);
      await expect(guardAt({}, '8.8.8.8').addressesOf(url)).rejects.toMatchObject({
        outcome: 'ADDRESS_REFUSED',
        message: `Nothing was sent: hooks.example.com ${message}.`,
      });
    },
  );

  test('is allowed by the setting', async () => {
    const guard = guardAt({ allowedPorts: [9_443] }, '8.8.8.8');
    expect(await guard.refusalOf(new URL('https://hooks.example.com:9443/'))).toBeUndefined();
    expect(await guard.refusalOf(new URL('https://hooks.example.com/'))).toContain('has port 443');
  });

  test('may be any on loopback where loopback is allowed, and only there', async () => {
    const url = new URL('http://localhost:5432/');
    expect(await guardAt({ allowLoopback: true }, '127.0.0.1', '::1').refusalOf(url)).toBeUndefined();
    expect(await guardAt({ allowLoopback: true }, '127.0.0.1', '8.8.8.8').refusalOf(url)).toContain(
      'has port',
    );
  });

  test('is judged when it is registered as when it is dialled: by the addresses that would be dialled', async () => {
    const url = new URL('http://hooks.example.com:5432/');
    for (const [addresses, isTaken] of [
      [['127.0.0.1', '10.0.0.7'], true],
      [['127.0.0.1', '8.8.8.8'], false],
      [['8.8.8.8', '10.0.0.7'], false],
      [['10.0.0.7'], false],
    ] as const) {
      const guard = guardAt({ allowLoopback: true }, ...addresses);
      const isDialled = await guard.addressesOf(url).then(
        () => true,
        () => false,
      );
      expect([(await guard.refusalOf(url)) === undefined, isDialled]).toEqual([isTaken, isTaken]);
    }
  });
});
