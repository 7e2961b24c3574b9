import { describe, expect, test } from '@jest/globals';
import { HostNames } from '../../src/delivery/host-names.js';

const ADDRESSES = [{ address: '192.0.2.1', family: 4 }];

describe('a host name', () => {
  test('is asked for once by all who need it at a time, and known for a moment', async () => {
    const asked: string[] = [];
    let answer: (addresses: typeof ADDRESSES) => void = () => undefined;
    const names = new HostNames((hostname) => {
      asked.push(hostname);
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    const waiting = Array.from({ length: 64 }, () => names.addressesOf('hooks.example.com'));
    answer(ADDRESSES);
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 64 }, () => ADDRESSES));
    expect(await names.addressesOf('hooks.example.com')).toEqual(ADDRESSES);
    expect(asked).toEqual(['hooks.example.com']);
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

  test('with silent servers does not delay others', async () => {
    const names = new HostNames((hostname) =>
      hostname.startsWith('dead') ? new Promise(() => undefined) : Promise.resolve(ADDRESSES),
    );
    for (let count = 0; count < 100; count += 1) {
      void names.addressesOf(`dead-${count}.example.com`);
    }
    expect(await names.addressesOf('hooks.example.com')).toEqual(ADDRESSES);
  });
});
