import { expect, test } from '@jest/globals';
import { networkOf, subnetOf } from '../../src/identifiers/network-address.js';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['2001:db8::1', '2001:db8:0::/48'],
  ['2001:0DB8:0:ffff::', '2001:db8:0::/48'],
  ['2001:db8:1::', '2001:db8:1::/48'],
  ['fe80::1%eth0', 'fe80:0:0::/48'],
  ['::1', '0:0:0::/48'],
  ['', ''],
])('the network of %j is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:0:ffff::1', '2001:db8:0:ffff::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
])('the subnet of %j is %s', (address, subnet) => {
  expect(subnetOf(address)).toBe(subnet);
});
