import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { askNameServers, HostNames, resolving } from '../../src/delivery/host-names.js';
import { signalled } from '../support/signalled.js';

const ADDRESSES = [{ address: '192.0.2.1', family: 4 }];

describe('a host name', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  test('is resolved once for concurrent callers, and cached briefly', async () => {
    const asked: string[] = [];
    const { told, tell: answer } = signalled<typeof ADDRESSES>();
    const names = new HostNames((hostname) => {
      asked.push(hostname);
      return told;
    });
    const waiting = Array.from({ length: 64 }, () => names.addressesOf('hooks.example.com'));
    answer(ADDRESSES);
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 64 }, () => ADDRESSES));
    expect(await names.addressesOf('hooks.example.com')).toEqual(ADDRESSES);
    expect(asked).toEqual(['hooks.example.com']);
  });

  test('with thousands of addresses keeps the first eight of each family, so that dials stay short', async () => {
    const many = (family: 4 | 6) =>
      Array.from({ length: 3_000 }, (_, index) => ({
        address: family === 4 ? `192.0.${index >> 8}.${index & 255}` : `2001:db8::${index}`,
        family,
      }));
    const names = new HostNames(async () => [...many(4), ...many(6)]);
    const expected = [...many(4).slice(0, 8), ...many(6).slice(0, 8)];
    expect(await names.addressesOf('hooks.example.com')).toEqual(expected);
    expect(await names.addressesOf('hooks.example.com')).toEqual(expected);
  });

  test('that is not known is asked for again', async () => {
    let isThere = false;
    const names = new HostNames(() =>
      isThere ? Promise.resolve(ADDRESSES) : Promise.reject(Object.assign(new Error(), { code: 'ETIMEOUT' })),
    );
    await expect(names.addressesOf('hooks.example.com')).rejects.toMatchObject({
      outcome: 'NAME_NOT_RESOLVED',
      message:
        'The host name hooks.example.com could not be resolved: the name servers gave no answer (ETIMEOUT).',
    });
    isThere = true;
    expect(await names.addressesOf('hooks.example.com')).toEqual(ADDRESSES);
  });

  test('of this machine is known without name servers', async () => {
    const addresses = await new HostNames().addressesOf('localhost');
    expect(addresses.map(({ address }) => address)).toContain('127.0.0.1');
  });

  test.each([
    [4, 500],
    [6, 2_500],
  ] as const)(
    'whose servers are silent about the other family has its addresses of IPv%i after %i ms',
    async (family, otherMs) => {
      jest.useFakeTimers();
      const { told: cancelled, tell } = signalled();
      const cancel = jest.fn(tell);
      const addresses = family === 4 ? ['192.0.2.1'] : ['2001:db8::1'];
      const silent = () =>
        cancelled.then(() => Promise.reject(Object.assign(new Error(), { code: 'ECANCELLED' })));
      const resolver = {
        resolve4: () => (family === 4 ? Promise.resolve(addresses) : silent()),
        resolve6: () => (family === 6 ? Promise.resolve(addresses) : silent()),
        cancel,
      } as unknown as Parameters<typeof askNameServers>[1];
      const found = askNameServers('hooks.example.com', resolver);
      await jest.advanceTimersByTimeAsync(otherMs - 1);
      expect(cancel).not.toHaveBeenCalled();
      await jest.advanceTimersByTimeAsync(1);
      expect(await found).toEqual([{ address: addresses[0], family }]);
    },
  );

  test('with silent servers does not delay others', async () => {
    const names = new HostNames((hostname) =>
      hostname.startsWith('dead') ? new Promise(() => undefined) : Promise.resolve(ADDRESSES),
    );
    for (let count = 0; count < 100; count += 1) {
      void names.addressesOf(`dead-${count}.example.com`);
    }
    expect(await names.addressesOf('hooks.example.com')).toEqual(ADDRESSES);
  });

  test('that only the system may know takes one of its two places, so that names without a dot are not delayed', async () => {
    const hanging: string[] = [];
    const ends: (() => void)[] = [];
    const resolve = resolving({
      ask: async () => [],
      system: (hostname) => {
        if (hostname === 'receiver') {
          return Promise.resolve(ADDRESSES);
        }
        hanging.push(hostname);
        return new Promise((_, reject) => ends.push(() => reject(new Error('EAI_AGAIN'))));
      },
    });
    const outcomes = [1, 2, 3].map((count) => resolve(`dead-${count}.example.com`).catch(() => 'failed'));
    expect(await resolve('receiver')).toEqual(ADDRESSES);
    for (const [index, outcome] of outcomes.entries()) {
      expect(hanging).toEqual(
        ['dead-1.example.com', 'dead-2.example.com', 'dead-3.example.com'].slice(0, index + 1),
      );
      ends[index]?.();
      expect(await outcome).toBe('failed');
      await new Promise(setImmediate);
    }
  });

  test('that the system resolved before gets its old addresses while others hang, and is resolved before them', async () => {
    const hanging: (() => void)[] = [];
    let address = '192.0.2.1';
    const asked: string[] = [];
    const resolve = resolving({
      ask: async () => [],
      system: (hostname) =>
        asked.push(hostname) > 0 && hostname.startsWith('dead')
          ? new Promise((_, reject) => hanging.push(() => reject(new Error('EAI_AGAIN'))))
          : address === ''
            ? Promise.reject(new Error('ENOTFOUND'))
            : Promise.resolve([{ address, family: 4 }]),
    });
    const find = async () => (await resolve('in-hosts-file.example.com')).map((found) => found.address);
    await find();
    const dead = [1, 2, 3].map((count) => resolve(`dead-${count}.example.com`).catch(() => 'failed'));
    const endNext = async (index: number) => {
      hanging[index]?.();
      expect(await dead[index]).toBe('failed');
      await new Promise(setImmediate);
    };
    address = '192.0.2.2';
    for (const _ of [1, 2, 3]) {
      expect(await find()).toEqual(['192.0.2.1']);
    }
    expect(hanging).toHaveLength(1);
    await endNext(0);
    expect(asked.filter((hostname) => hostname.startsWith('in'))).toHaveLength(2);
    address = '';
    expect(await find()).toEqual(['192.0.2.2']);
    await endNext(1);
    await endNext(2);
    await expect(find()).rejects.toThrow('ENOTFOUND');
  });

  describe('that the system resolved before', () => {
    const MOST_KEPT = 1_000;
    function rig() {
      const asked: string[] = [];
      const hanging: (() => void)[] = [];
      const resolve = resolving({
        ask: async () => [],
        system: (hostname) => {
          asked.push(hostname);
          return hostname.startsWith('dead')
            ? new Promise((_, reject) => hanging.push(() => reject(new Error('EAI_AGAIN'))))
            : Promise.resolve(ADDRESSES);
        },
      });
      const find = (name: string) => resolve(`${name}.local`).catch(() => 'failed');
      const end = async (found: ReturnType<typeof find>) => {
        hanging.shift()?.();
        expect(await found).toBe('failed');
        await new Promise(setImmediate);
      };
      return { asked, find, end };
    }

    test('takes turns with those that hang', async () => {
      const { asked, find, end } = rig();
      await find('one');
      await find('two');
      const dead = [find('dead-1'), find('dead-2')] as const;
      await new Promise(setImmediate);
      await find('one');
      await find('two');
      await end(dead[0]);
      await end(dead[1]);
      expect(asked.slice(2)).toEqual(['dead-1.local', 'one.local', 'dead-2.local', 'two.local']);
    });

    test('is renewed at capacity without evicting the others', async () => {
      const { find, end } = rig();
      for (let count = 0; count < MOST_KEPT; count += 1) {
        await find(`known-${count}`);
      }
      const first = find('dead-1');
      await new Promise(setImmediate);
      await find('known-0');
      const second = find('dead-2');
      await end(first);
      expect(await find('known-1')).toEqual(ADDRESSES);
      await end(second);
    });
  });

  test('that name servers know is not asked of the system', async () => {
    const resolve = resolving({
      ask: async () => ADDRESSES,
      system: () => Promise.reject(new Error('was asked')),
    });
    expect(await resolve('hooks.example.com')).toEqual(ADDRESSES);
  });
});
